// Which parameters a derived value follows from: found by evaluating the recipe again with each of them nudged.
#pragma once

#include <string>
#include <vector>

#include "evaluator/evaluate.h"

namespace muster {

// Names of parameters, and of "hosts" and "devices_per_host", by a change of which alone another value is derived. A
// parameter of which every change that was tried is refused by the recipe is left out. Empty if the recipe itself is.
std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived);

}  // namespace muster
