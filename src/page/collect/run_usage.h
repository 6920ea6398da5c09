// What the processes of a run have used over time, for its page: a line for each process, or the smallest, middle and
// largest of many.
#pragma once

#include "muster/plan.h"
#include "muster/value.h"

namespace muster {

// Null if the run has no samples.
Value UsageValue(const Plan& plan, int run_folder);

}  // namespace muster
