// CPU time and memory of processes of this host, from /proc/PID/stat (proc(5)).
//
// Identifies processes by pid and start time, so a reused pid is ignored. A process's children are not
// counted.
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

// Parses a /proc/PID/stat; nothing if it is invalid.
std::optional<ProcStat> ParseProcStat(std::string_view text);

struct Load {
  double cpu_percent = 0;  // of one core: since the previous look, or at first since its start
  std::uint64_t memory_kib = 0;
};

}  // namespace muster
