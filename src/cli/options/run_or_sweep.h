// What a word names: RUN, SWEEP, or SWEEP:TRIAL, which is a run, too. The one rule for all commands that show or steer
// what runs.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/directory/directory_owner.h"
#include "sweep/index/work_choice.h"

namespace muster {

// The word may be empty: the newest. The control socket of a trial that runs is there when this returns. Fails as
// FindRun and FindSweep (cli/options/run_argument.h).
Result<NamedWork> FindWork(const std::string& word, DirectoryUse use, Prefer prefer);

// The word that names this sweep for commands called from here: its name if that means it, else its id, else its path.
std::string WordForSweep(const std::string& sweep_dir, const std::string& name, const std::string& id);

// Adds [RUN], which may be a sweep or a trial.
void AddWorkArgument(CLI::App& app, std::string& word);

}  // namespace muster
