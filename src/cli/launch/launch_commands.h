// The commands that start runs, and those that prepare them.
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

std::function<int()> SetupDoctor(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRun(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupReplay(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRehearse(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupStub(CLI::App& app, const Invocation& invocation);

}  // namespace muster
