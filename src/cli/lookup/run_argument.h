// Resolves the RUN argument of commands.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/directory/directory_owner.h"

namespace muster {

void AddRunArgument(CLI::App& app, std::string& run);

// The folder of runs, below $MUSTER_HOME or the current folder.
Result<std::string> DefaultRunsFolder();

// The folder of sweeps, beside it.
Result<std::string> DefaultSweepsFolder();

// The folder of the sweep that the user named (sweep/record/sweep_directory.h, ResolveSweep).
Result<std::string> FindSweep(const std::string& sweep, DirectoryUse use = DirectoryUse::kRead);
void AddSweepArgument(CLI::App& app, std::string& sweep);

// The folder of the named run (run/directory/run_directory.h, ResolveRun), below $MUSTER_HOME or the current folder;
// for SWEEP:TRIAL that of the trial's last attempt (sweep/index/trial_choice.h). If it will be executed and belongs to
// another user, prints a warning with the owner, once for each. An archive of muster pack, if it is only read, is
// unpacked below a private temporary folder, which is removed at the end of the program.
Result<std::string> FindRun(const std::string& run, DirectoryUse use = DirectoryUse::kRead);

// The text with the names of archives instead of the folders in which FindRun has unpacked them.
std::string WithArchiveNames(std::string text);

}  // namespace muster
