// Whether the programs of a plan are on this machine, for `muster check`.
#pragma once

#include "muster/plan.h"

namespace muster {

// A warning of kind "program" for each program that a run on this machine would not find, with the roles that start it.
// Nothing where the plan names hosts or has several: those are looked at by doctor and before a run.
Diagnostics MissingPrograms(const Plan& plan);

}  // namespace muster
