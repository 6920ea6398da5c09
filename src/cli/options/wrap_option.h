// --wrap ROLE[:N]=WORDS, for commands that make a plan.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/plan.h"

namespace muster {

// `wraps` must live as long as the app.
void AddWrapOption(CLI::App& app, std::vector<std::string>& wraps);

// Applied in the order given, so the last one comes first in a command.
Result<void> ApplyWraps(Plan& plan, const std::vector<std::string>& wraps);

}  // namespace muster
