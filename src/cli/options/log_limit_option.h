// --log-max SIZE, for commands that make a plan.
#pragma once

#include <string>

#include <CLI/App.hpp>

#include "muster/plan.h"

namespace muster {

// The size must live as long as the app.
void AddLogLimitOption(CLI::App& app, std::string& size);

// Sets the limit of every role's logs to the option's value, if it is given; "none" removes the recipe's limits.
Result<void> ApplyLogLimit(Plan& plan, const std::string& size);

}  // namespace muster
