// Queries the git state of a folder in the background; only a caller that needs the result at the end waits
// for it. Depends on git calls and the loop. Without git or a repository, or after a timeout, there is no
// result.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "code/git_call.h"
#include "code/git_state.h"
#include "spawn/start/watched_fd.h"

namespace muster {

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
