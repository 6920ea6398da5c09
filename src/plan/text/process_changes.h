// The differences between the processes of a role in two plans: place, context, command, folder and variables, folded
// over processes. Part of plan_diff.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "muster/plan.h"
#include "plan/text/plan_diff.h"

namespace muster {

// A process in both plans, as indices into their processes.
struct ProcessPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

// Appends the changes of these processes, all of one role in each plan; the role's name is taken from `a`.
void CompareProcesses(const Plan& a, const Role& role_a, const Plan& b, const Role& role_b,
                      std::span<const ProcessPair> members, std::vector<PlanChange>& changes);

}  // namespace muster
