// Who ranks the processes of a role.
#pragma once

#include "muster/plan.h"

namespace muster {

// Whether the role's workers are ranked by their framework, when they register, and not by the plan.
inline bool RanksAreAssigned(const Role& role) { return role.world.empty() && role.plays == "worker"; }

}  // namespace muster
