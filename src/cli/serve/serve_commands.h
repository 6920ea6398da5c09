// The command that serves pages.
#pragma once

#include <functional>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

std::function<int()> SetupServe(CLI::App& app, const Invocation& invocation);

}  // namespace muster
