// Who in a plan is told something of a host that only the binding knows: its name, its address, what its devices are
// called, the numbers of its ports. Pure.
#pragma once

#include <cstdint>

#include "muster/plan.h"

namespace muster {

// The process finds it in its command, folder, environment or context, or its readiness needs it.
bool RefersToHost(const Plan& plan, const Process& process, std::uint32_t host);

// It stands in a file of the plan, which any process may read.
bool FilesMentionHost(const Plan& plan, std::uint32_t host);

}  // namespace muster
