// Measures the CPU and memory usage of processes between looks.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "top/load.h"

namespace muster {

// Looks repeatedly, at each process at most once between two calls of Next().
class LoadMeter {
 public:
  LoadMeter();

  // Begins a new look. Processes that were not queried in the previous one are forgotten.
  void Next();
  // Nothing if the process has ended.
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
