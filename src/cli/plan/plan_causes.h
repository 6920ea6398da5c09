// What somebody did differently where two plans differ: parameters, numbers of the cluster, the recipe's text, how it
// was called; and what each of these does alone, found by planning the first one again with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/options/planned_thing.h"
#include "plan/text/caused_changes.h"

namespace muster {

struct Causes {
  std::vector<PlanCause> causes;   // the recipe's text first, then by name
  std::vector<std::string> notes;  // one line each: why nothing could be tried alone
};

// `on_plan` is called after each plan that was made on the way.
Causes FindCauses(const PlannedThing& a, const PlannedThing& b, const std::function<void()>& on_plan);

}  // namespace muster
