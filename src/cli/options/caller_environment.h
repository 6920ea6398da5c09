// Settings common to all runs that this call of muster starts: their environment, and
// refusals.
#pragma once

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "run/session/run_request.h"

namespace muster {

// Problems that `check` only warns about, as errors, because a run would do harm: a secret in the recipe's text must
// not reach a process, a plan or a journal.
Diagnostics RefusedByRun(const Diagnostics& warnings);

// One warning, or none, about variables of the caller that the plan's processes do not inherit, because the framework's
// contract removes them.
Diagnostics WarnOfRemoved(const Evaluation& evaluation);

// Sets environment, current folder, and the folder of this program, where commands are looked up after PATH.
Result<void> SetCallerEnvironment(RunRequest& request);

}  // namespace muster
