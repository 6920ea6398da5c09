// --log-max SIZE, for commands that make a plan.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/plan.h"

namespace muster {

// The size must live as long as the app.
void AddLogLimitOption(CLI::App& app, std::string& size);

// The limit of every role's logs is what the option says, if it is given; "none" takes those of the recipe away.
Result<void> ApplyLogLimit(Plan& plan, const std::string& size);

}  // namespace muster
