// Watches a sweep from outside: prints its head's entries from the journal as they are written, with inotify(7).
#pragma once

#include <string>

#include "muster/result.h"

namespace muster {

struct WatchSweepOptions {
  bool json = false;      // the journal's lines instead, on `out`
  bool progress = false;  // on a terminal: rows with running trials and their latest metrics
  int out = 1;
  int err = 2;
};

// Prints a line for each ended attempt, from the beginning on, until no head is active; then a summary. Returns the
// sweep's exit code: 3 if its head was killed. Fails with kind "sweep" or "inotify".
Result<int> WatchSweep(const std::string& sweep_dir, const WatchSweepOptions& options);

}  // namespace muster
