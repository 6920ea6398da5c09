// Messages of the agent protocol: dumps, the current state of processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"

namespace muster {

struct DumpTarget {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string path;  // absolute, in an existing folder in run_dir; file to create for the findings, mode 0600
};

// Requests the state of these processes. The agent answers with one ProcessDumped for each running process, then with
// HostDumped. Cancels a dump that is still in progress.
struct TakeDump {
  std::uint32_t dump = 0;
  std::uint32_t within_ms = 0;  // time limit for all stack tools together
  std::vector<DumpTarget> processes;
};

}  // namespace muster
