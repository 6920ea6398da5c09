// Whether a plan may be run: everything that a plan decoded from untrusted bytes must satisfy. A plan that muster
// made itself always does.
#pragma once

#include <cstddef>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/plan.h"

namespace muster {

inline constexpr std::size_t kMaxPlanBytes = 64U << 20;

// Errors of kind "plan_invalid", at most 20 of them:
//  - at most kMaxProcesses processes and kMaxPlanBytes of text; every text is UTF-8 without NUL;
//  - its name, if it has one, is what a run may be called (base/values/run_name.h), names and labels of hosts what a
//  host may;
//  - role, port and secret names are unique, 1 to 128 of [A-Za-z0-9_.-] and neither "." nor ".."; files lie below
//    files/, without empty, "." or ".." parts; host labels are unique and not empty;
//  - roles, processes, hosts, devices and ports refer to what exists; processes are by role, then index; no device is
//    given twice; ranks of a world are 0 … world_size - 1, each once;
//  - every process has a command (exactly one text if its role is a shell's); variable names can be in an
//    environment; stop signals are known; numbers are finite, and values
//    are not nested deeper than 32;
//  - holes are well-formed and name existing ports, secrets and hosts; a secret is the whole of a variable, file or
//    context value, and stands nowhere else; its source is named.
Diagnostics ValidatePlan(const Plan& plan);

// [A-Za-z0-9_.-]{1,128}, neither "." nor "..": names that can be part of a path and of a hole.
bool IsPlanName(std::string_view name);

}  // namespace muster
