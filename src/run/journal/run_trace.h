// Reads from a run's journal which of its processes may still exist, to find them when head and agent are gone.
//
// Depends on journals; of processes it checks only whether one still exists.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

struct RunTrace {
  std::string run_id;
  std::string boot;                                  // boot id of the machine during the run
  bool ended = false;                                // whether its journal is complete
  std::pair<std::int32_t, std::uint64_t> head = {};  // pid and start time, as below
  // Agents of this machine and processes whose end was not recorded: pid and start time (clock ticks since boot).
  std::vector<std::pair<std::int32_t, std::uint64_t>> identities;
  std::string cgroup;  // the agent's cgroup; empty: none
};

// Whether the run is active: its journal is incomplete, and its head is a process of this boot of the machine.
// This holds for every copy of the journal, wherever it is. A head that was killed but not reaped yet is not
// alive.
bool HeadLives(const RunTrace& trace);

// Kind "run" if there is no journal, or its first record is not that of a run.
Result<RunTrace> TraceRun(const std::string& run_dir);

}  // namespace muster
