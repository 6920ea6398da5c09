// A plan on one screen: roles, hosts, derived values, and one process as an example. For people; what compares plans
// reads the canonical text (plan_text.h). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/hosts/topology.h"

namespace muster {

struct PlanSummaryFacts {
  std::vector<std::vector<MeshAxis>> meshes;  // that the recipe made
  std::size_t warnings = 0;                   // that were printed
  std::size_t width = 100;                    // columns; longer lines are cut
};

// At most 24 lines, whatever the plan. Safe for a terminal.
std::string PlanSummaryText(const Plan& plan, const PlanSummaryFacts& facts);

}  // namespace muster
