// Messages of the agent protocol: dumps: what processes are doing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"

namespace muster {

struct DumpTarget {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string path;  // absolute, in run_dir, in a folder that is there: created for what is found, mode 0600
};

// What are these processes doing? Answered by one ProcessDumped for each that runs, and then by HostDumped. A
// dump that is still being taken is given up for it.
struct TakeDump {
  std::uint32_t dump = 0;
  std::uint32_t within_ms = 0;  // the time for tools that show stacks, for all of them together
  std::vector<DumpTarget> processes;
};

}  // namespace muster
