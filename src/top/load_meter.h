// The load that processes are, from one look to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "top/load.h"

namespace muster {

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
