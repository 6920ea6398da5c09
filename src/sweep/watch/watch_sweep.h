// Watching a sweep from outside: what its own head says of it, from the journal, told by inotify(7).
#pragma once

#include <string>

#include "muster/result.h"

namespace muster {

struct WatchSweepOptions {
  bool json = false;      // the journal's lines instead, on `out`
  bool progress = false;  // on a terminal: rows with what runs, and its newest metrics
  int out = 1;
  int err = 2;
};

// Shows a line for each attempt that has ended, from the beginning on, until nobody is at the sweep; then its summary.
// What the sweep exited with: 3 if its muster was killed. Fails with kind "sweep" or "inotify".
Result<int> WatchSweep(const std::string& sweep_dir, const WatchSweepOptions& options);

}  // namespace muster
