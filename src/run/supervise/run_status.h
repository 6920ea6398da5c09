// How far the processes of each role are, counted. Knows the supervisor's states, not who asks.
#pragma once

#include <vector>

#include "run/control/control_protocol.h"
#include "run/supervise/supervisor.h"

namespace muster {

// In the plan's order of roles.
std::vector<RoleStatus> RoleStatuses(const Plan& plan, const Supervisor& supervisor);

}  // namespace muster
