// muster check --rewrite: the recipe's text with the newer functions of a MindSpore release.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options/recipe_options.h"

namespace muster {

struct RewriteChoice {
  enum class Output : std::uint8_t { kText, kDiff, kInPlace };
  std::string release;  // as on the command line
  Output output = Output::kText;
  bool json = false;
};

// Prints the text, or the difference, or replaces the file; on standard error what stays as it is, and why. Returns the
// exit code: 0 also if something stays. `as_it_stands` is the recipe's own evaluation; a recipe with errors is not
// rewritten.
int ReportRewrite(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, const RewriteChoice& choice);

}  // namespace muster
