// Detects processes that the kernel killed for lack of memory: from the counter of the agent's own cgroup, which
// includes the groups below it (cgroup v2: memory.events; v1: memory.oom_control, of one group only), and from the
// kernel log if the agent may read it.
//
// Reads these files; independent of the plan. Without them nothing is detected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/system/unique_fd.h"
#include "muster/event.h"

namespace muster {

// The counter's file for the content of /proc/self/cgroup, or of the root group if a container hides the path: the
// first of the two that exists is to be read. Empty without a memory controller.
struct MemoryCounterFile {
  std::string path;
  std::string fallback;
};
MemoryCounterFile MemoryCounterFileOf(std::string_view proc_self_cgroup);

// The number after "oom_kill " in either file; nothing if there is none.
std::optional<std::uint64_t> MemoryKillsIn(std::string_view events);

// Parses a record of /dev/kmsg about a killed process: its pid, the time in microseconds since boot, and the text.
// Nothing for all other records.
struct MemoryKillRecord {
  pid_t pid = 0;
  std::uint64_t at_us = 0;
  std::string words;
};
std::optional<MemoryKillRecord> MemoryKillIn(std::string_view record);

class MemoryKills {
 public:
  MemoryKills();

  // Ignores kills counted so far, as initially.
  void CountFromNow();

  // A phrase with the evidence that the process, which was killed by SIGKILL and had been started at `started`, was
  // killed for lack of memory; empty if there is none. One count of the cgroup is evidence for one process.
  std::string Of(pid_t pid, MonotonicNs started);

 private:
  std::optional<std::uint64_t> ReadCounter() const;
  void ReadLog();

  std::string counter_;
  UniqueFd counter_file_;
  std::uint64_t accounted_ = 0;
  bool log_tried_ = false;
  UniqueFd log_;
  std::map<pid_t, MemoryKillRecord> logged_;
};

}  // namespace muster
