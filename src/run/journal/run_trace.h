// What a run's journal says about processes that may still be there: whom to look for when head and agent are gone.
//
// Knows journals, and of processes only whether one is still there.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

struct RunTrace {
  std::string run_id;
  std::string boot;                                  // the start of the machine in which it ran
  bool ended = false;                                // its journal is complete
  std::pair<std::int32_t, std::uint64_t> head = {};  // pid and start time, as below
  // Agents of this machine and processes of which no end was recorded: pid and start time (clock ticks since boot).
  std::vector<std::pair<std::int32_t, std::uint64_t>> identities;
  std::string cgroup;  // of the agent; empty: none
};

// Whether the run goes on: its journal has no end, and the head that it names is a process of this start of the
// machine. That holds for every copy of the journal, wherever it lies. A head that was killed and not waited for yet is
// none.
bool HeadLives(const RunTrace& trace);

// Kind "run" if there is no journal, or none of a run.
Result<RunTrace> TraceRun(const std::string& run_dir);

}  // namespace muster
