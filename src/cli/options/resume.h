// --resume RUN: the run that another one goes on with, and the checkpoint it goes on from.
#pragma once

#include <optional>
#include <string>

#include "cli/options/recipe_options.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

struct Resumption {
  std::string run;         // id of the run that is gone on with
  std::string checkpoint;  // absolute path
};

// With --resume, RECIPE may be left out: it is the stored one of that run then, and the first name=value is none.
void SettleResumed(RecipeOptions& options);

// The folder of the run that --resume names. Kinds "run", and "resume" for one that still goes on.
Result<std::string> ResumedRun(const RecipeOptions& options);

// The newest complete checkpoint of that run, where its plan says that they are; where it wrote none, the one that it
// went on from itself. `--checkpoint` names one instead. Kind "resume".
Result<Resumption> FindResumption(const RecipeOptions& options);

// What the run itself went on from, if it did. Kind "resume" if that is gone.
Result<std::optional<Resumption>> ResumptionOfRun(const std::string& run_dir);

// Kind "resume" for a plan that gives its processes no checkpoint: they would begin from nothing.
Result<void> CheckUsesCheckpoint(const Plan& plan);

}  // namespace muster
