// Watches a run from another process: shows what the run's own console shows, from the journal.
#pragma once

#include <string>

#include "muster/result.h"
#include "run/console/console.h"

namespace muster {

// Shows the run from its beginning to its end, then its report, and returns its exit code: 3 if its head was killed.
// With `json` shows the journal's lines instead. Fails with kind "run" if the folder has no plan.
Result<int> WatchRun(const std::string& run_dir, const ConsoleOptions& console, bool json);

}  // namespace muster
