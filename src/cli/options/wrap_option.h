// --wrap ROLE[:N]=WORDS, for commands that make a plan.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/plan.h"

namespace muster {

// The wraps must live as long as the app.
void AddWrapOption(CLI::App& app, std::vector<std::string>& wraps);

// In the order given, so that the last one stands first in a command.
Result<void> ApplyWraps(Plan& plan, const std::vector<std::string>& wraps);

}  // namespace muster
