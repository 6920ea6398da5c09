// Watching a run from outside: what its own console says of it, from the journal.
#pragma once

#include <string>

#include "muster/result.h"
#include "run/console/console.h"

namespace muster {

// Shows the run from its beginning to its end, then its report, and gives what it exited with: 3 if its muster was
// killed. With `json` the journal's lines instead. Fails with kind "run" if the folder holds no plan.
Result<int> WatchRun(const std::string& run_dir, const ConsoleOptions& console, bool json);

}  // namespace muster
