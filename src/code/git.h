// The git state of the folder of a run's code, and calls of git in a folder whose repository is not trusted: nothing
// that the repository configures is executed. Queries run in the background; without git or a repository, or after a
// timeout, there is no result.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/limited_command.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// Runs git in a folder whose repository is not trusted: nothing that the repository configures is executed.
//
// Depends on git as a process. Hooks, the fsmonitor, filters, pagers, prompts and transports are switched off, by the
// environment and by configuration that overrides the repository's; nothing is written (no optional locks). Of the
// user's environment only HOME and PATH are passed on: GIT_DIR and the like refer to another folder.

// A running call. Killed and reaped if it is destroyed before Take(). Exit code -1: git is missing, was killed, or took
// too long.
class GitCall : public CapturedCommand {
 public:
  // `folder` is absolute. `environment` is the user's, "NAME=value". `filters` are the filters that the repository
  // configures (NAME of filter.NAME.clean), which are switched off.
  GitCall(Launcher& launcher, const std::string& folder, const std::vector<std::string>& words,
          const std::vector<std::string>& environment, const std::vector<std::string>& filters = {});
};

// The arguments of a call that lists the filters of the repository, and its answer.
std::vector<std::string> FilterWords();
std::vector<std::string> FiltersIn(const std::string& out);

// The git state of the folder of a run's code, parsed from git's output. Pure.

struct GitState {
  std::string commit;              // its hash; empty before the first one
  std::string branch;              // empty if detached
  std::uint32_t changed = 0;       // files that differ from the commit
  std::uint32_t untracked = 0;     // files and folders that are neither tracked nor ignored
  std::vector<std::string> names;  // of both, the first kMaxNames, as git prints them

  static constexpr std::size_t kMaxNames = 20;

  bool operator==(const GitState&) const = default;
};

// Parses "git status --porcelain=v2 --branch -z"; nothing if it is invalid.
std::optional<GitState> ReadGitStatus(std::string_view bytes);

// "9f3c1d20a1b2 (main), 3 files changed, 1 untracked"; without names of files.
std::string GitStateText(const GitState& state);

// Queries the git state of a folder in the background; only a caller that needs the result at the end waits
// for it. Depends on git calls and the loop. Without git or a repository, or after a timeout, there is no
// result.
class GitQuery {
 public:
  static constexpr std::chrono::seconds kWithin{2};
  using Done = std::function<void(const std::optional<GitState>&)>;

  // `done` is called once, from the loop, after kWithin at the latest; not after this is destroyed.
  GitQuery(boost::asio::io_context& io, std::string folder, std::vector<std::string> environment, Done done);
  GitQuery(const GitQuery&) = delete;
  GitQuery& operator=(const GitQuery&) = delete;
  ~GitQuery();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  void Begin(const std::vector<std::string>& words, const std::vector<std::string>& filters,
             std::function<void(const CommandOutput&)> then);
  void Report(std::optional<GitState> state);

  boost::asio::io_context& io_;
  const std::string folder_;
  const std::vector<std::string> environment_;
  Done done_;
  Launcher launcher_;
  Timer deadline_;
  std::unique_ptr<GitCall> call_;
  std::unique_ptr<WatchedFd> ended_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace muster
