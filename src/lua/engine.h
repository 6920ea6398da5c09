// The engine: one evaluation from recipe text to plan. Runs inside the evaluator process.
#pragma once

#include <functional>

#include "lua/evaluation.h"
#include "lua/last_place.h"
#include "lua/limits.h"

namespace muster {

// Never fails as a function: what went wrong is in the answer's diagnostics. `last_place` may be null.
EvaluationAnswer Evaluate(const EvaluationRequest& request, const Ask& ask, const StateLimits& limits,
                          LastPlace* last_place);

// The same, with the answer given before the interpreter and all that was made for it are torn down: who ends the
// process there spares it.
void Evaluate(const EvaluationRequest& request, const Ask& ask, const StateLimits& limits, LastPlace* last_place,
              const std::function<void(EvaluationAnswer)>& give);

}  // namespace muster
