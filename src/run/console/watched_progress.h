// The progress of another muster process's run, from its journal: the rows of `muster watch`, like those of `muster
// run` (run/console/progress.h), with the newest metrics of each role.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/console/progress.h"
#include "run/journal/journal.h"

namespace muster {

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

}  // namespace muster
