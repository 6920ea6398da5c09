// Finds the causes of differences between two plans: parameters, numbers of the cluster, the recipe's text, options;
// and the effect of each one alone, by making the first plan again with it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/options/plan_argument.h"
#include "plan/text/plan_diff.h"

namespace muster {

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

}  // namespace muster
