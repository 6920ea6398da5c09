// The plan of a run for its page: parameters, and the command and variables of each role, with where they come from as
// far as the run directory says.
#pragma once

#include <string>

#include "muster/plan.h"
#include "muster/value.h"

namespace muster {

// A map with "parameters" and "roles". `folder`: descriptor of the run directory; `word`: how `muster explain` finds
// the run. Values that a record would hide are hidden.
Value PlanValue(const Plan& plan, int folder, const std::string& word);

}  // namespace muster
