// Runs git in a folder whose repository is not trusted: nothing that the repository configures is executed.
//
// Depends on git as a process. Hooks, the fsmonitor, filters, pagers, prompts and transports are switched off, by the
// environment and by configuration that overrides the repository's; nothing is written (no optional locks). Of the
// user's environment only HOME and PATH are passed on: GIT_DIR and the like refer to another folder.
#pragma once

#include <string>
#include <vector>

#include "spawn/start/limited_command.h"

namespace muster {

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

}  // namespace muster
