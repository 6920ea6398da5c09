// Makes the plan of a test case, independent of the machine.
//
// Hides this machine: devices and memory are unknown unless the case sets them, variables are not set, MUSTER_SET is
// not read, and muster.here returns files below /recipes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/plan/golden_cases.h"
#include "evaluator/evaluator.h"
#include "muster/result.h"

namespace muster {

// `more` comes after the overrides of the case; `on_wait` and `mindspore` are those of EvaluationOptions. The recipe's
// output is discarded. Kind "cases" for invalid words, else those of EvaluateRecipe.
Result<Evaluation> EvaluateCase(const GoldenCase& one, bool describe_only, const std::vector<Override>& more = {},
                                const std::function<void(unsigned seconds)>& on_wait = {},
                                const std::string& mindspore = {});

}  // namespace muster
