// Evaluates a recipe to its plan. Needs the program muster-evaluator, in which the recipe's Lua runs; starts nothing
// else and writes no file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"

namespace muster {

struct RecipeInput {
  std::string file;                         // path of the recipe
  std::map<std::string, Value> parameters;  // as name:=value on the command line
  std::vector<std::string> profiles;        // in the order in which they apply
  std::vector<std::string> args;            // job.args of the recipe
  Site site;                                // the hosts and devices to plan for; by default nothing is known of them
  std::string evaluator;                    // path of muster-evaluator; empty: beside the calling program
};

struct EvaluatedRecipe {
  std::string name;
  std::string doc;
  Plan plan;  // valid: it can be printed, compared, stored and run
  Diagnostics warnings;
};

// Blocks until the plan is made. Fails with all errors of the recipe at once (Blame::kRecipe), or because the evaluator
// cannot be started or exceeds its limits. A secret that is written in the recipe's text is an error, as for
// `muster run`. Lines that the recipe prints are dropped.
Result<EvaluatedRecipe> EvaluateFile(const RecipeInput& input);

}  // namespace muster
