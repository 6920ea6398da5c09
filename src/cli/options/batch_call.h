// A call of muster as a batch job of an engine: the allocation that the recipe needs, and the script that makes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/engine_choice.h"
#include "cli/options/recipe_options.h"
#include "engine/engine_calls.h"
#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

// Whether --on or --engine names an engine, and this process is in no allocation of it. Kinds of ChosenEngine.
Result<bool> AsksForAllocation(const EngineOptions& options);

struct BatchCall {
  EnginePage page;
  EngineSettings settings;
  RecipeOptions asking;  // those of the call, with the hosts as they are requested
  BatchJob job;
  std::string script;
  Diagnostics warnings;  // of the recipe
};

// How long the end of the plan's processes may take after a notice: for a checkpoint, and for the stop.
std::uint32_t StopSeconds(const Plan& plan);

// The first part of it: the page, the settings, and the number of nodes, without the command. Without `needs` they are
// those of the recipe.
Result<BatchCall> AllocationFor(const RecipeOptions& options, std::optional<AllocationNeeds> needs = std::nullopt);

// The second part, for that plan: name and command of the job ("run", "sweep"), and the script. `added` are further
// words of the command.
Result<void> CompleteBatchCall(BatchCall& call, const Plan& plan, const std::string& command,
                               const std::vector<std::string>& words, const std::vector<std::string>& dropped,
                               const std::vector<std::string>& added = {});

// The batch job that runs `muster run` in an allocation with the words of this call (Invocation::words), less those
// that ask for the allocation and those in `dropped` ("--detach", without values). The recipe is planned for hosts as
// they are requested, so that everything that is wrong with it is reported before the job waits in a queue. Kinds
// "usage", those of SettingsFor, and those of an evaluation.
Result<BatchCall> BatchCallFor(const RecipeOptions& options, const std::vector<std::string>& words,
                               const std::vector<std::string>& dropped);

}  // namespace muster
