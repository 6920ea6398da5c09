// A sweep in muster top: its running trials instead of processes.
#pragma once

#include "cli/runs/sweep_list.h"
#include "top/top_state.h"

namespace muster {

TopState TopStateOf(const ListedSweep& sweep);

}  // namespace muster
