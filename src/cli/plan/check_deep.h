// muster check --deep, for people and programs.
#pragma once

#include <string>

#include "cli/options/recipe_options.h"

namespace muster {

// `as_it_stands` is the recipe's own evaluation; nothing more is evaluated if it is wrong. Prints all, its own problems
// apart; returns the exit code.
int ReportDeepCheck(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, bool json);

}  // namespace muster
