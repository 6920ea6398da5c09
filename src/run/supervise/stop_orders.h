// Orders stops of processes: one order for each role, by its StopPolicy. Pure.
#pragma once

#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

class Orders;

// Orders the stops of these processes, in the plan's order; with SIGKILL if `at_once`. Arms the stop timer, unless no
// process is left. Without `at_once` an armed timer is only postponed.
void OrderStops(const Plan& plan, const std::vector<ProcessId>& processes, bool at_once, bool any_left, Orders& orders);

}  // namespace muster
