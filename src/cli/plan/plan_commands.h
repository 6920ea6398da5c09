// The commands about recipes and plans.
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

std::function<int()> SetupInit(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupParams(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupCheck(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPlan(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupExplain(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDiff(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTest(CLI::App& app, const Invocation& invocation);

}  // namespace muster
