// Counts the states of each role's processes, for status requests.
#pragma once

#include <vector>

#include "run/control/control_protocol.h"
#include "run/supervise/supervisor.h"

namespace muster {

// In the plan's order of roles.
std::vector<RoleStatus> RoleStatuses(const Plan& plan, const Supervisor& supervisor);

}  // namespace muster
