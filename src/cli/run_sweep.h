// Running a sweep.
#pragma once

#include "cli/sweep_options.h"
#include "evaluator/evaluate.h"

namespace muster {

// A call of muster sweep whose words have been read.
struct SweepCall {
  SweepOptions options;
  DescribedSweep described;
  Evaluator& evaluator;  // that described it
};

// Gives the exit code.
int RunSweep(SweepCall& call);

}  // namespace muster
