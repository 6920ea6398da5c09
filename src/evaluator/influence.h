// Which parameters influence a derived value, and which influence nothing: found by evaluating the recipe again with
// each of them changed a little.
#pragma once

#include <string>
#include <vector>

#include "evaluator/evaluator.h"

namespace muster {

// Active parameters whose other values all gave the same plan. Secrets are left out, and parameters whose other values
// gave no plan at all. Makes at most three plans for each.
std::vector<std::string> ParametersWithoutEffect(Evaluator& evaluator, const EvaluationOptions& options,
                                                 const Evaluation& as_it_is);

// Names of parameters, and "hosts" and "devices_per_host", whose change alone changes the derived value. Parameters
// whose other values are all refused by the recipe are left out. Empty if the recipe itself has errors.
std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived);

}  // namespace muster
