// `muster top` on a terminal: a loop that asks the head once a second, draws changes, and handles
// keys.
// Schedules requests; top/screen.h draws and top/view.h handles keys. The only effect on the head is one request a
// second.
#pragma once

#include <functional>
#include <string>

#include "muster/result.h"
#include "top/top_state.h"
#include "top/view.h"

namespace muster {

// For a sweep, which has no head to ask: called once a second, and at its end.
using SweepSnapshots = std::function<Result<TopState>()>;

// Runs until the user quits: 0, or 128+n if signal n ended it. Begins with `first`, the state of the run in that
// directory, or of the sweep, if `sweep` is not empty; stays open when it ends, and shows the outcome. Fails, without
// output, with kind "terminal".
Result<int> ShowTop(const std::string& run_dir, TopState first, TopView view, SweepSnapshots sweep = {});

}  // namespace muster
