// A sweep as muster top shows it: its running trials in the place of processes.
#pragma once

#include "cli/sweep_list.h"
#include "top/state.h"

namespace muster {

TopState TopStateOf(const ListedSweep& sweep);

}  // namespace muster
