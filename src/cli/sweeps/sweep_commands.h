// The commands about sweeps.
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

std::function<int()> SetupResume(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupSteer(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRetry(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupSweep(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupBest(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupExport(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupShow(CLI::App& app, const Invocation& invocation);

}  // namespace muster
