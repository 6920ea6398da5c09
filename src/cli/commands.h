// The table of all commands, and those that are about the table.
#pragma once

#include <functional>
#include <span>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

// All of them, in the order in which they are listed.
std::span<const Command> Commands();

std::function<int()> SetupCompletion(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDocs(CLI::App& app, const Invocation& invocation);

}  // namespace muster
