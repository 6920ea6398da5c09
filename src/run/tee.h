// muster run --tee: whose output is shown while the run lasts, however many processes there are.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// The processes that words name: "worker", "worker:2", "worker:0-3,7". Numbers are ranks; in a role without ranks they
// are the processes' numbers in it. Fails with kind "tee".
Result<std::set<ProcessId>> TeedProcesses(const Plan& plan, const std::vector<std::string>& words);

}  // namespace muster
