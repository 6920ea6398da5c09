// What a word of the command line stands for where plans are compared: a recipe, a RUN, or a file with a plan.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// "name=value" and its kin; a '/' before the '=' makes it a path.
bool IsOverride(const std::string& word);

struct PlannedThing {
  std::string name;  // as the user wrote it, with its overrides
  Plan plan;
  Diagnostics warnings;
  // How the plan was made, and what came of it; none for a plan file, and for a run whose sources do not lead to the
  // plan that was run.
  std::optional<EvaluationOptions> made_by;
  std::optional<Evaluation> evaluation;
  std::string why_not;  // instead, one line
  std::map<std::string, std::string> sources;
};

// `options` says what holds besides: hosts, devices and the like. A RUN without overrides is the plan that was run;
// with overrides, its stored sources are evaluated. Kinds of EvaluateRecipe, "plan_json", "run", and "usage" for
// overrides of a plan file.
Result<PlannedThing> ThingNamed(const std::string& word, const std::vector<std::string>& overrides,
                                const RecipeOptions& options);

}  // namespace muster
