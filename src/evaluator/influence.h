// Which parameters a derived value follows from, and which nothing does: found by evaluating the recipe again with each
// of them nudged.
#pragma once

#include <string>
#include <vector>

#include "evaluator/evaluator.h"

namespace muster {

// Active parameters of which no other value that was tried gives another plan; those of which none gives a plan at all
// are left out, and so are secrets. At most three plans are made for each.
std::vector<std::string> ParametersWithoutEffect(Evaluator& evaluator, const EvaluationOptions& options,
                                                 const Evaluation& as_it_is);

// Names of parameters, and of "hosts" and "devices_per_host", by a change of which alone another value is derived. A
// parameter of which every change that was tried is refused by the recipe is left out. Empty if the recipe itself is.
std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived);

}  // namespace muster
