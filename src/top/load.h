// CPU time and memory of processes of this host, as /proc/PID/stat tells them (proc(5)).
//
// Knows pids with their start times; a pid that is somebody else's by now is not looked at. A process's children are
// not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

struct ProcStat {
  std::uint64_t start_ticks = 0;  // since boot
  std::uint64_t cpu_ticks = 0;    // user and system
  std::uint64_t rss_pages = 0;
};

// What /proc/PID/stat holds; nothing if it is none.
std::optional<ProcStat> ParseProcStat(std::string_view text);

struct Load {
  double cpu_percent = 0;  // of one core: since the look before, at the first look since its start
  std::uint64_t memory_kib = 0;
};

}  // namespace muster
