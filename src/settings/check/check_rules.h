// The schema's rules between settings, put to a job. What needs the processes one by one is together.cc's.
#pragma once

#include "muster/context.h"

namespace muster {

// Every rule that a job breaks, once for each line of the recipe that it blames: first by the settings of the whole
// job, then by those that processes have of their own.
Diagnostics CheckRules(const Context& job, const JobFacts& facts);

}  // namespace muster
