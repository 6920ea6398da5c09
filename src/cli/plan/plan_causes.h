// Differences between plans by cause: parameters, numbers of the cluster, the recipe's text, options, with the effect
// of each one alone; also between a plan and its golden text, as far as that shows it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/recipe_options.h"
#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "plan/text/plan_diff.h"

namespace muster {

// Finds the causes of differences between two plans: parameters, numbers of the cluster, the recipe's text, options;
// and the effect of each one alone, by making the first plan again with it.

struct Causes {
  std::vector<PlanCause> causes;   // the recipe's text first, then by name
  std::vector<std::string> notes;  // one line each: why a cause could not be tried alone
};

// The parameters that one of the plans has by a former name and the other by the present one (`was`), as `parameters`
// describe them: present name -> former name.
std::map<std::string, std::string> RenamedParameters(const Plan& a, const Plan& b,
                                                     const std::vector<ParameterState>& parameters);

// `on_plan` is called after each plan that was made.
Causes FindCauses(const PlanArgument& a, const PlanArgument& b, const std::function<void()>& on_plan);

// The golden text of a plan, and the comparison of a plan with it.

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
