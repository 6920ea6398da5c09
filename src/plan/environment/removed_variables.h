// Variables that muster was called with and that processes do not inherit, because the framework's contract owns them.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/environment/environment.h"

namespace muster {

// The names in `inherited` ("NAME=value") that a contract removes from some role, sorted. What a batch system or
// another launcher set is left out: nobody meant it for these processes. `provenance`: by role, who decided what is
// unset.
std::vector<std::string> RemovedByContract(
    const Plan& plan, const std::map<std::string, std::map<std::string, VariableSource>>& provenance,
    const std::vector<std::string>& inherited);

}  // namespace muster
