// A sweep as muster top shows it: its running trials in the place of processes.
#pragma once

#include "cli/runs/sweep_list.h"
#include "top/top_state.h"

namespace muster {

TopState TopStateOf(const ListedSweep& sweep);

}  // namespace muster
