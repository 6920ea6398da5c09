// Runs git in a folder whose repository is not trusted: nothing that the repository configures is executed.
//
// Depends on git as a process. Hooks, the fsmonitor, filters, pagers, prompts and transports are switched off, by the
// environment and by configuration that overrides the repository's; nothing is written (no optional locks). Of the
// user's environment only HOME and PATH are passed on: GIT_DIR and the like refer to another folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

struct GitAnswer {
  int exit_code = -1;  // -1: git is missing, was killed, or took too long
  std::string out;
  std::string err;
};

// A running call. Killed and reaped if it is destroyed before Take().
class GitCall {
 public:
  static constexpr std::size_t kMostBytes = 64U << 20;

  // `folder` is absolute. `environment` is the user's, "NAME=value". `filters` are the filters that the repository
  // configures (NAME of filter.NAME.clean), which are switched off.
  GitCall(Launcher& launcher, const std::string& folder, const std::vector<std::string>& words,
          const std::vector<std::string>& environment, const std::vector<std::string>& filters = {});
  GitCall(const GitCall&) = delete;
  GitCall& operator=(const GitCall&) = delete;
  ~GitCall();

  // The process is running.
  bool going() const { return pid_.has_value(); }
  const ChildRef& ref() const { return *pid_; }
  // Waits for the end, at most so long; then kills it.
  GitAnswer Take(std::chrono::milliseconds within);

 private:
  std::optional<ChildRef> pid_;
  UniqueFd pidfd_;
  UniqueFd out_;
  UniqueFd err_;
};

// The arguments of a call that lists the filters of the repository, and its answer.
std::vector<std::string> FilterWords();
std::vector<std::string> FiltersIn(const std::string& out);

}  // namespace muster
