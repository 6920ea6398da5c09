// A sweep in muster top: its running trials instead of processes.
#pragma once

#include "cli/runs/sweep_list.h"
#include "sweep/watch/trial_curves.h"
#include "top/top_state.h"

namespace muster {

// Reads the newest reports of its trials into `curves`.
TopState TopStateOf(const ListedSweep& sweep, TrialCurves& curves);

}  // namespace muster
