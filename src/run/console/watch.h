// Watches a run from another process: shows what the run's own console shows, from the journal, with the newest
// metrics of each role.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/plan.h"
#include "muster/result.h"
#include "run/console/console.h"
#include "run/journal/journal.h"

namespace muster {

// The progress of another muster process's run, from its journal: the rows of `muster watch`, like those of `muster
// run` (run/console/console.h), with the newest metrics of each role.
class WatchedProgress {
 public:
  // `plan` must outlive it.
  explicit WatchedProgress(const Plan& plan);

  // Must be called for every record that is valid for the plan, in order.
  void Take(const JournalRecord& record);
  // Reads the metrics below the run directory. `now_ns`: the wall clock.
  Progress Now(const std::string& run_dir, std::uint64_t now_ns) const;

 private:
  enum class State : std::uint8_t { kWaiting, kRunning, kEnded };
  const Plan& plan_;
  std::vector<State> states_;            // by process
  std::vector<std::uint64_t> restarts_;  // by role
  std::string phase_;
  std::uint64_t began_ns_ = 0;  // by the head's wall clock
};

// Watches a run from another process: shows what the run's own console shows, from the journal.

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
