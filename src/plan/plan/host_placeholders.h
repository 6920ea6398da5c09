// Finds the parts of a plan that use host facts known only from the binding: a host's name, its address, names of its
// devices, its port numbers. Pure.
#pragma once

#include <cstdint>

#include "muster/plan.h"

namespace muster {

// Whether the process uses such facts in its command, folder, environment or context, or in its readiness condition.
bool RefersToHost(const Plan& plan, const Process& process, std::uint32_t host);

// Whether a file of the plan, which any process may read, uses such facts.
bool FilesMentionHost(const Plan& plan, std::uint32_t host);

}  // namespace muster
