// How processes are stopped: one order for each role, by its StopPolicy. Pure.
#pragma once

#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

class Orders;

// Orders the stops of these processes, in the plan's order; with SIGKILL if `at_once`. Arms the timer that watches over
// them, unless no process is left. Not at once, it is only moved later.
void OrderStops(const Plan& plan, const std::vector<ProcessId>& processes, bool at_once, bool any_left, Orders& orders);

}  // namespace muster
