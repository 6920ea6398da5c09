// What is kept of a plan, and how it is told in what a plan differs from what is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "plan/text/plan_diff_text.h"

namespace muster {

// PlanText and PlanNotesText; of a plan that nobody could read to its end the id, which stands for all of it, and of
// each role the first two processes and the last.
std::string KeptPlan(const Plan& plan);

// The id of the plan that a text of KeptPlan is of.
std::string KeptId(std::string_view kept);

// The difference by cause, as far as two texts of KeptPlan tell it: parameters that differ, derived values, and what of
// which processes. `now` tells where parameters have their values from. Nothing if the kept text is no plan's.
std::optional<ToldDiff> DiffOfKept(std::string_view kept, std::string_view said, const Evaluation& now);

// Lines removed and added, "- 12: …", at most so many; for texts that are no plans.
std::string LinesOfDiff(std::string_view kept, std::string_view said, std::size_t most);

}  // namespace muster
