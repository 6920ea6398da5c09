// Resolves the arguments of commands: RUN, SWEEP, and SWEEP:TRIAL, which is a run, too.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/directory/run_directory.h"
#include "sweep/index/sweep_view.h"

namespace muster {

// Resolves the RUN argument of commands.

void AddRunArgument(CLI::App& app, std::string& run);

// The folder of runs, below $MUSTER_HOME or the current folder.
Result<std::string> DefaultRunsFolder();

// The folder of sweeps, beside it.
Result<std::string> DefaultSweepsFolder();

// The folder of the sweep that the user named (sweep/record/sweep_directory.h, ResolveSweep).
Result<std::string> FindSweep(const std::string& sweep, DirectoryUse use = DirectoryUse::kRead);
void AddSweepArgument(CLI::App& app, std::string& sweep);

// The folder of the named run (run/directory/run_directory.h, ResolveRun), below $MUSTER_HOME or the current folder;
// for SWEEP:TRIAL that of the trial's last attempt (sweep/index/sweep_view.h). If it will be executed and belongs to
// another user, prints a warning with the owner, once for each. An archive of muster pack, if it is only read, is
// unpacked below a private temporary folder, which is removed at the end of the program.
Result<std::string> FindRun(const std::string& run, DirectoryUse use = DirectoryUse::kRead);

// The text with the names of archives instead of the folders in which FindRun has unpacked them.
std::string WithArchiveNames(std::string text);

// Resolves an argument to a RUN, a SWEEP, or SWEEP:TRIAL, which is a run, too. Shared by all commands that show or
// control them.

// The word may be empty: the newest. On return the control socket of a running trial exists. Fails as FindRun and
// FindSweep (cli/lookup/run_argument.h).
Result<NamedRunOrSweep> FindRunOrSweep(const std::string& word, DirectoryUse use, Prefer prefer);

// A word for this sweep in the current folder: its name if that is unambiguous, else its id, else its path.
std::string WordForSweep(const std::string& sweep_dir, const std::string& name, const std::string& id);

// Adds [RUN], which may be a sweep or a trial.
void AddRunOrSweepArgument(CLI::App& app, std::string& word);
// Adds [RUN]…, each of which may be a sweep or a trial.
void AddRunsOrSweepsArgument(CLI::App& app, std::vector<std::string>& words);

}  // namespace muster
