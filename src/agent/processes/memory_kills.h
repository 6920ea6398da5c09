// What the kernel tells about processes it killed for lack of memory: the counter of the agent's own cgroup, which
// counts for the groups below it too (cgroup v2: memory.events; v1: memory.oom_control, of one group only), and the
// kernel's log where the agent may read it.
//
// Knows these files, no process of the plan. All of it may be missing, and then nothing is told.
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

// The counter's file for what /proc/self/cgroup says, or for the group at the root if a container hides the path: the
// first of these that is there is to be read. Empty without a memory controller.
struct MemoryCounterFile {
  std::string path;
  std::string fallback;
};
MemoryCounterFile MemoryCounterFileOf(std::string_view proc_self_cgroup);

// The number after "oom_kill " in either file; nothing if there is none.
std::optional<std::uint64_t> MemoryKillsIn(std::string_view events);

// A record of /dev/kmsg that tells of a killed process: its pid, the time in microseconds since the start of the
// machine, and the words. Nothing for every other record.
struct MemoryKillRecord {
  pid_t pid = 0;
  std::uint64_t at_us = 0;
  std::string words;
};
std::optional<MemoryKillRecord> MemoryKillIn(std::string_view record);

class MemoryKills {
 public:
  MemoryKills();

  // What was counted so far is evidence for nobody. As at first.
  void CountFromNow();

  // A phrase with the evidence that the process, which SIGKILL ended and which had started at `started`, was killed
  // for lack of memory; empty if there is none. One count of the cgroup is evidence for one process.
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
