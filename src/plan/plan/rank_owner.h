// Whether the plan or the framework ranks the processes of a role.
#pragma once

#include "muster/plan.h"

namespace muster {

// Whether the framework ranks the role's workers when they register, instead of the plan.
inline bool RanksAreAssigned(const Role& role) { return role.world.empty() && role.plays == "worker"; }

}  // namespace muster
