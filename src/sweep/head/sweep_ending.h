// The outcome of a sweep's head: its exit code and reason, from the state of the scheduler and the head at the end.
#pragma once

#include <string>

#include "sweep/head/sweep_head.h"
#include "sweep/record/impossible_reasons.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// `why` and `exit_code`: what stopped the sweep; empty and 0 if nothing did. `reasons`: why points are impossible that
// were judged before any trial began.
SweepOutcome OutcomeOf(const TrialScheduler& course, const ImpossibleReasons& reasons, const std::string& why,
                       int exit_code);

}  // namespace muster
