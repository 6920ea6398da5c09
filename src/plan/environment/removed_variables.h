// Variables in muster's own environment that processes do not inherit, because the framework's contract owns them.
// Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "plan/environment/environment.h"

namespace muster {

// The names in `inherited` ("NAME=value") that a contract removes from some role, sorted. Variables of batch systems
// and other launchers are omitted: the user did not set them for these processes. `provenance`: by role, the layer that
// unsets each variable.
std::vector<std::string> RemovedByContract(
    const Plan& plan, const std::map<std::string, std::map<std::string, VariableSource>>& provenance,
    const std::vector<std::string>& inherited);

}  // namespace muster
