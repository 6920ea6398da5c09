// The plan of a case, as it is on every machine.
//
// What a plan could take from this one is left out: its devices and memory are unknown unless the case says otherwise,
// variables are not set, MUSTER_SET is not read, and muster.here names files below /recipes.
#pragma once

#include <functional>
#include <vector>

#include "cli/plan/golden_cases.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"

namespace muster {

// `more` comes after the overrides of the case; `on_wait` is that of EvaluationOptions. What the recipe prints is not
// shown. Kind "cases" for words that mean nothing, else those of EvaluateRecipe.
Result<Evaluation> EvaluateCase(const GoldenCase& one, bool describe_only, const std::vector<Override>& more = {},
                                const std::function<void(unsigned seconds)>& on_wait = {});

}  // namespace muster
