// The RUN argument of the commands that look at a run.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/directory/directory_owner.h"

namespace muster {

void AddRunArgument(CLI::App& app, std::string& run);

// Where runs are kept, below $MUSTER_HOME or here.
Result<std::string> DefaultRunsFolder();

// Where sweeps are kept, beside it.
Result<std::string> DefaultSweepsFolder();

// The folder of the sweep that the user named (sweep/record/sweep_directory.h, ResolveSweep).
Result<std::string> FindSweep(const std::string& sweep, DirectoryUse use = DirectoryUse::kRead);
void AddSweepArgument(CLI::App& app, std::string& sweep);

// The folder of the run that the user named (run/directory/run_directory.h, ResolveRun), below $MUSTER_HOME or here;
// with SWEEP:TRIAL that of the trial's last attempt (sweep/index/trial_choice.h). If it is to be executed
// and belongs to another user, a warning on stderr names the owner, once for each.
Result<std::string> FindRun(const std::string& run, DirectoryUse use = DirectoryUse::kRead);

}  // namespace muster
