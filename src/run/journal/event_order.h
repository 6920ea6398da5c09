// Determines which of two events came first, as far as possible: clocks of different hosts agree only within bounds,
// and a host sees the end of a process only after it happened.
//
// Pure: depends on numbers, not on journals. Times are CLOCK_MONOTONIC of each host.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"

namespace muster {

// Converts a host's clock to the head's: the head's time is the host's plus `offset_ns`, with an error of at most
// `error_ns`. Both are 0 for the head's own host.
struct HostClock {
  std::int64_t offset_ns = 0;
  std::uint64_t error_ns = 0;

  bool operator==(const HostClock&) const = default;
};

// By host. Empty if the clocks were not compared: events of that host cannot be ordered with events of other
// hosts.
using HostClocks = std::vector<std::optional<HostClock>>;

// When an event was seen. It happened in [at - late_ns, at] of the host's clock.
struct Moment {
  std::uint32_t host = 0;
  MonotonicNs at = 0;
  std::uint64_t late_ns = 0;
};

enum class Order : std::uint8_t { kBefore, kAfter, kUnknown };

// Whether `a` happened before or after `b`. Events of the same host are compared without clock error.
Order OrderOf(const Moment& a, const Moment& b, const HostClocks& clocks);

// The moment on the head's clock; empty if the host's clock is not known.
std::optional<MonotonicNs> OnHead(const Moment& moment, const HostClocks& clocks);

// How long after the death of a process the kernel may report its end. It first closes the files and frees the memory
// (exit(2): do_exit calls exit_files and exit_mm before exit_notify), so that peers can notice, fail and be reported
// earlier: 1 ms, and half a second for each GiB that was resident (up to 0.6 s were measured on a machine under load).
std::uint64_t EndLatenessNs(std::uint64_t max_rss_kib);

}  // namespace muster
