// What every run that this call of muster starts has in common, whatever it runs: what surrounds it, and what is
// refused.
#pragma once

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "run/session/run_request.h"

namespace muster {

// What `check` only warns about, because nothing has happened yet: a secret in the text of the recipe must not
// reach a process, a plan or a journal. As errors.
Diagnostics RefusedByRun(const Diagnostics& warnings);

// What the command was called with and the plan's processes will not have, because the framework's contract removes it:
// one warning, or none.
Diagnostics ToldOfRemoved(const Evaluation& evaluation);

// Environment, current folder, and the folder of this program, where commands are looked up after PATH.
Result<void> SurroundRun(RunRequest& request);

}  // namespace muster
