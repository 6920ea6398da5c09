// --resume RUN: finds the run to resume, and its checkpoint.
#pragma once

#include <optional>
#include <string>

#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

struct Resumption {
  std::string run;         // id of the run to resume
  std::string checkpoint;  // absolute path
};

// With --resume, RECIPE may be omitted: the stored one is used, and the first positional argument is an override.
void SettleResumed(RecipeOptions& options);

// The folder of the run that --resume names. Kinds "run", and "resume" if it is still running.
Result<std::string> ResumedRun(const RecipeOptions& options);

// The newest complete checkpoint of that run, at the location in its plan; if it wrote none, the one that it resumed
// from itself. `--checkpoint` overrides this. Kind "resume".
Result<Resumption> FindResumption(const RecipeOptions& options);

// The checkpoint that the run itself resumed from, if any. Kind "resume" if that is gone.
Result<std::optional<Resumption>> ResumptionOfRun(const std::string& run_dir);

// Kind "resume" for a plan that passes no checkpoint to its processes: they would start from scratch.
Result<void> CheckUsesCheckpoint(const Plan& plan);

}  // namespace muster
