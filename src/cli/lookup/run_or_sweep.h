// Resolves an argument to a RUN, a SWEEP, or SWEEP:TRIAL, which is a run, too. Shared by all commands that show or
// control them.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/directory/directory_owner.h"
#include "sweep/index/run_or_sweep_choice.h"

namespace muster {

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
