// The table of all commands, and the commands that describe it.
#pragma once

#include <functional>
#include <span>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

// All commands, in the order of the list.
std::span<const Command> Commands();

std::function<int()> SetupCompletion(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDocs(CLI::App& app, const Invocation& invocation);

}  // namespace muster
