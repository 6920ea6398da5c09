// Folding: stores values that all processes of a role share once, in the role.
#pragma once

#include "muster/plan.h"

namespace muster {

// Converts the plan to its canonical form: two plans whose processes have equal effective commands, folders,
// environments and contexts become equal values, however they were built. A key (or command, or cwd) is in the role if
// every process of the role has it with the same value, else in each process that has it. Unset patterns are sorted,
// without duplicates. A role without processes keeps no command, environment or context. Idempotent; time grows with
// the number of values.
void Fold(Plan& plan);

}  // namespace muster
