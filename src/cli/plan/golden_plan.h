// The golden text of a plan, and the comparison of a plan with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "plan/text/plan_diff.h"

namespace muster {

// PlanText and PlanNotesText; for a plan too long to read, its id, which covers everything, and for each role the first
// two processes and the last.
std::string KeptPlan(const Plan& plan);

// The id of the plan from a text of KeptPlan.
std::string KeptId(std::string_view kept);

// The difference by cause, as far as two texts of KeptPlan show it: parameters, derived values, and differing parts of
// processes. `now` has the sources of parameters. Nothing if the golden text is no plan's.
std::optional<PlanDifference> DiffOfKept(std::string_view kept, std::string_view said, const Evaluation& now);

// Removed and added lines, "- 12: …", at most so many; for texts that are no plans.
std::string LinesOfDiff(std::string_view kept, std::string_view said, std::size_t most);

}  // namespace muster
