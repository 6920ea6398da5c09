// Parses launch scripts of the form: a loop that exports RANK_ID, DEVICE_ID and the like and starts a program in the
// background; returns one launcher call. Pure; the caller reads the script.
#pragma once

#include <string>
#include <vector>

#include "launchers/launcher_call.h"
#include "muster/result.h"

namespace muster {

// `words`: "bash FILE ARGUMENT…", "FILE ARGUMENT…", "bash -c TEXT" or the text itself. Kind "usage": nothing is started
// in the background, processes that differ by more than a number, and the errors of LaunchesOfScript.
Result<LauncherCall> ReadShellRanks(const std::vector<std::string>& words, const ReadText& read_text);

}  // namespace muster
