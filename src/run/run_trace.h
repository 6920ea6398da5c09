// What a run's journal says about processes that may still be there: whom to look for when head and agent are gone.
//
// Knows journals; looks at no process.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

struct RunTrace {
  std::string run_id;
  std::string boot;    // the start of the machine in which it ran
  bool ended = false;  // its journal is complete
  // Agents of this machine and processes of which no end was recorded: pid and start time (clock ticks since boot).
  std::vector<std::pair<std::int32_t, std::uint64_t>> identities;
  std::string cgroup;  // of the agent; empty: none
};

// Kind "run" if there is no journal, or none of a run.
Result<RunTrace> TraceRun(const std::string& run_dir);

}  // namespace muster
