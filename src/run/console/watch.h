// Watches a run from another process: shows what the run's own console shows, from the journal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/console/console.h"

namespace muster {

// Called once, before the first record, with the loop of the watch: for signals and timers of the caller, which belong
// to what it returns: the watch destroys that before the loop. `give_up`, called from that loop, ends the watch of a
// run whose head is known to be gone; `warn` shows a line.
using WatchBegun = std::function<std::shared_ptr<void>(boost::asio::io_context& io, std::function<void()> give_up,
                                                       std::function<void(const std::string&)> warn)>;

// Shows the run from its beginning to its end, then its report, and returns its exit code: 3 if its head was killed.
// With `json` shows the journal's lines instead. Fails with kind "run" if the folder has no plan.
Result<int> WatchRun(const std::string& run_dir, const ConsoleOptions& console, bool json,
                     const WatchBegun& begun = {});

}  // namespace muster
