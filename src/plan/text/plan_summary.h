// A plan on one screen: roles, hosts, derived values, and one process as an example. For users; programs that compare
// plans read the canonical text (plan_text.h). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/hosts/topology.h"

namespace muster {

struct PlanSummaryFacts {
  std::vector<std::vector<MeshAxis>> meshes;  // created by the recipe
  std::size_t warnings = 0;                   // number of printed warnings
  std::size_t width = 100;                    // columns; longer lines are truncated
};

// At most 24 lines for any plan. Safe for a terminal.
std::string PlanSummaryText(const Plan& plan, const PlanSummaryFacts& facts);

}  // namespace muster
