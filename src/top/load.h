// CPU time and memory of processes of this host, as /proc/PID/stat tells them (proc(5)).
//
// Knows pids with their start times; a pid that is somebody else's by now is not looked at. A process's children are
// not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

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

// Looks again and again, each process at most once between two calls of Next().
class LoadMeter {
 public:
  LoadMeter();

  // Begins a new look. Processes that the one before did not ask for are forgotten.
  void Next();
  // Nothing if there is no such process any more.
  std::optional<Load> Of(std::int32_t pid, std::uint64_t start_ticks);

 private:
  struct Seen {
    std::uint64_t start_ticks = 0;
    std::uint64_t cpu_ticks = 0;
    std::uint64_t at_ns = 0;
  };

  double ticks_per_second_;
  std::uint64_t page_kib_;
  double uptime_ = 0;  // seconds
  std::uint64_t now_ns_ = 0;
  std::unordered_map<std::int32_t, Seen> before_;
  std::unordered_map<std::int32_t, Seen> seen_;
};

}  // namespace muster
