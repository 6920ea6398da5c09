// Translates launch scripts to launcher calls: scripts that start processes themselves, in loops that export RANK_ID,
// DEVICE_ID and the like, and scripts around mpirun, msrun, torchrun and others. Pure; the caller reads scripts.
#pragma once

#include <string>
#include <vector>

#include "launchers/launcher_call.h"
#include "launchers/shell_script.h"
#include "muster/result.h"

namespace muster {

// `words`: "bash FILE ARGUMENT…", "FILE ARGUMENT…", "bash -c TEXT" or the text itself. `recipe_folder`: where the
// recipe will be, absolute. Each process of the call has the folder, words and variables that the script gives it; a
// script with arguments for one of several machines is interpreted for each of them. Kind "usage", with a line: nothing
// is started, a process that does not follow from the script or has no counterpart, and the errors of OutcomeOfScript.
Result<LauncherCall> ReadShellRanks(const std::vector<std::string>& words, const ScriptWorld& world,
                                    const std::string& recipe_folder);

}  // namespace muster
