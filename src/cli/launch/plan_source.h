// Where the plan of a run comes from: a recipe, a plan in a file, or an earlier run.
#pragma once

#include <string>

#include "cli/options/recipe_options.h"
#include "muster/result.h"
#include "run/session/run_request.h"

namespace muster {

struct PlanSource {
  RecipeOptions recipe;
  std::string plan_file;  // --plan; empty: not given
  bool replay = false;
  std::string replayed;  // RUN; empty: the newest
};

// Fills the request with the recipe's plan and its origin, with the plan of the file, or with that of the earlier run,
// of which only the binding is new. Prints warnings. The hosts have the names of the command line or of the allocation,
// if there are any.
Result<void> FillPlan(const PlanSource& source, RunRequest& request);

// Gives the hosts of a plan the names of the command line or of the allocation, if there are any. Kind "hosts".
Result<void> NameHosts(const RecipeOptions& options, Plan& plan);

}  // namespace muster
