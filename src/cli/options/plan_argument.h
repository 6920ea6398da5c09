// Resolves an argument of commands that compare plans: a recipe, a RUN, or a file with a plan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// "name=value" and the other forms; a '/' before the '=' makes it a path.
bool IsOverride(const std::string& word);

struct PlanArgument {
  std::string name;  // as the user wrote it, with its overrides
  Plan plan;
  Diagnostics warnings;
  // How the plan was made; none for a plan file, and for a run whose stored sources do not reproduce its
  // plan.
  std::optional<EvaluationOptions> made_by;
  std::optional<Evaluation> evaluation;
  std::string why_not;  // the reason, in one line, if there is no plan
  std::map<std::string, std::string> sources;
};

// `options` has the other options: hosts, devices and so on. A RUN without overrides is the plan that was run; with
// overrides, its stored sources are evaluated. Kinds of EvaluateRecipe, "plan_json", "run", and "usage" for overrides
// of a plan file.
Result<PlanArgument> ResolvePlanArgument(const std::string& word, const std::vector<std::string>& overrides,
                                         const RecipeOptions& options);

}  // namespace muster
