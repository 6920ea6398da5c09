// Lists the logs of a run whose beginning was dropped because of a size limit. Depends on the plan, the journal and the
// time indexes of the logs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/journal.h"

namespace muster {

struct DroppedLog {
  std::string log;          // relative to the run directory
  std::uint64_t bytes = 0;  // dropped from its beginning
  std::uint64_t limit = 0;  // in bytes
  std::string by;           // "collapse-range" or "log-pipe", as reported by the host's agent; empty if unknown
};

// In the order of starts. `run_dir` is a descriptor.
std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const CheckedJournal& journal, int run_dir);

// The report's line about dropped logs, or an empty text.
std::string DroppedLogsText(const std::vector<DroppedLog>& dropped);

}  // namespace muster
