// Messages of the agent protocol: what running processes use of their host, sampled at intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"

namespace muster {

// What a process has used, with its descendants: those below it, and those of its process group.
struct ProcessUsage {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t running_ms = 0;  // since its start
  std::uint64_t cpu_ms = 0;      // since its start: user and system time
  std::uint64_t memory_kib = 0;  // resident, now; a page that several of them share is counted once for each
  // In use on its devices, now, by all processes on them; nothing if it has no devices or their tool reports nothing.
  std::optional<std::uint64_t> device_kib = {};

  bool operator==(const ProcessUsage&) const = default;
};

// One sample of all running processes of the host, in ascending order. Hello states the interval at first.
struct UsageSampled {
  std::vector<ProcessUsage> processes;

  bool operator==(const UsageSampled&) const = default;
};

}  // namespace muster
