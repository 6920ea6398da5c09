// What a sweep's head makes of its request before it begins, and what can be wrong with it.
#pragma once

#include <memory>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "run/metrics/log_patterns.h"
#include "space/sweep_description.h"
#include "sweep/head/sweep_head.h"
#include "sweep/trial/trial_class.h"

namespace muster {

struct SweepInputs {
  std::unique_ptr<const CompiledSpace> space;  // of the sampler
  Sampler sampler;
  LogPatterns patterns;
  ClassPatterns classes;
  RecipeFiles files;
};

// Fails if the description is invalid, or the recipe's files cannot be opened.
Result<SweepInputs> InputsOf(const SweepRequest& request);

}  // namespace muster
