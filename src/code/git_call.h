// Asking git about a folder whose repository is not trusted: nothing that the repository names is executed.
//
// Knows git as a process. Hooks, the fsmonitor, filters, pagers, prompts and transports are switched off, by the
// environment and by configuration that comes after the repository's; nothing is written (no optional locks). The
// user's own environment stays away but for HOME and PATH: GIT_DIR and the like are about another folder.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/system/unique_fd.h"
#include "spawn/start/launcher.h"

namespace muster {

struct GitAnswer {
  int exit_code = -1;  // -1: there is no git, it was killed, or it did not end in time
  std::string out;
  std::string err;
};

// A call that goes on. Killed and reaped if it is destroyed before Take().
class GitCall {
 public:
  static constexpr std::size_t kMostBytes = 64U << 20;

  // `folder` is absolute. `environment` is the user's, "NAME=value". Filters that the repository configures are named
  // by `filters` (NAME of filter.NAME.clean), and switched off.
  GitCall(Launcher& launcher, const std::string& folder, const std::vector<std::string>& words,
          const std::vector<std::string>& environment, const std::vector<std::string>& filters = {});
  GitCall(const GitCall&) = delete;
  GitCall& operator=(const GitCall&) = delete;
  ~GitCall();

  // There is a process.
  bool going() const { return pid_.has_value(); }
  const ChildRef& ref() const { return *pid_; }
  // Waits for the end, at most so long; kills it then.
  GitAnswer Take(std::chrono::milliseconds within);

 private:
  std::optional<ChildRef> pid_;
  UniqueFd pidfd_;
  UniqueFd out_;
  UniqueFd err_;
};

// The words of a call that asks for the filters of the repository, and what it answers.
std::vector<std::string> FilterWords();
std::vector<std::string> FiltersIn(const std::string& out);

}  // namespace muster
