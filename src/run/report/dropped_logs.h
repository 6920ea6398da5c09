// Which logs of a run have lost their beginning to a limit. Knows the plan, the journal and the indexes of the logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/checked_journal.h"

namespace muster {

struct DroppedLog {
  std::string log;          // relative to the run directory
  std::uint64_t bytes = 0;  // its first ones, which are gone
  std::uint64_t limit = 0;  // in bytes
  std::string by;           // "collapse-range" or "log-pipe", as the host's agent said; empty if it is not known
};

// In the order of starts. `run_dir` is a descriptor.
std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const CheckedJournal& journal, int run_dir);

// What a report says of them: a line, or nothing.
std::string DroppedLogsText(const std::vector<DroppedLog>& dropped);

}  // namespace muster
