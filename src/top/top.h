// `muster top` on a terminal: one loop that asks the head once a second, draws what has changed, and takes keys.
//
// Knows who is asked and when; what is drawn and what keys do is known in top/screen.h and top/view.h. The head notices
// one request a second, and nothing else of it.
#pragma once

#include <functional>
#include <string>

#include "muster/result.h"
#include "top/top_state.h"
#include "top/view.h"

namespace muster {

// Of a sweep, where no head is asked: once a second, and when it is over.
using SweepLooks = std::function<Result<TopState>()>;

// Until the user quits: 0, or 128+n if signal n ended it. Begins with `first`, a look at the run of that directory, or
// at the sweep, if `sweep` is not empty; stays when it ends, and shows how it did. Fails with nothing shown, with kind
// "terminal".
Result<int> ShowTop(const std::string& run_dir, TopState first, TopView view, SweepLooks sweep = {});

}  // namespace muster
