// muster check --deep, as text and as JSON.
#pragma once

#include <string>

#include "cli/options/recipe_options.h"

namespace muster {

// `as_it_stands` is the recipe's own evaluation; if it failed, nothing more is evaluated. Prints everything except that
// evaluation's problems; returns the exit code.
int ReportDeepCheck(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, bool json);

}  // namespace muster
