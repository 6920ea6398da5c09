// The RUN argument of the commands that look at a run.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/result.h"

namespace muster {

void AddRunArgument(CLI::App& app, std::string& run);

// Where runs are kept, below $MUSTER_HOME or here.
Result<std::string> DefaultRunsFolder();

// The folder of the run that the user named (run/run_directory.h, ResolveRun), below $MUSTER_HOME or here.
Result<std::string> FindRun(const std::string& run);

}  // namespace muster
