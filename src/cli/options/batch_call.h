// A call of muster as a batch job of an engine: the allocation that the recipe needs, and the script that makes it.
#pragma once

#include <string>
#include <vector>

#include "cli/options/engine_choice.h"
#include "cli/options/recipe_options.h"
#include "engine/batch_script.h"
#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

// Whether --on or --engine names an engine, and this process is in no allocation of it. Kinds of ChosenEngine.
Result<bool> AsksForAllocation(const EngineOptions& options);

struct BatchCall {
  EnginePage page;
  EngineSettings settings;
  BatchJob job;
  std::string script;
  Diagnostics warnings;  // of the recipe
};

// The batch job that runs `muster run` in an allocation with the words of this call (Invocation::words), less those
// that ask for the allocation and those in `dropped` ("--detach", without values). The recipe is planned for hosts as
// they are requested, so that everything that is wrong with it is reported before the job waits in a queue. Kinds
// "usage", those of SettingsFor, and those of an evaluation.
Result<BatchCall> BatchCallFor(const RecipeOptions& options, const std::vector<std::string>& words,
                               const std::vector<std::string>& dropped);

}  // namespace muster
