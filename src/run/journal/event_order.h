// Which of two events came first, as far as that can be told: clocks of different hosts agree only within bounds, and
// a host sees an end only after it happened.
//
// Pure: knows numbers, no journal. The clocks are those of CLOCK_MONOTONIC, each host's own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"

namespace muster {

// How a host's clock is read on the head's: the head's time is the host's plus `offset_ns`, give or take `error_ns`.
// The head's own host has neither.
struct HostClock {
  std::int64_t offset_ns = 0;
  std::uint64_t error_ns = 0;

  bool operator==(const HostClock&) const = default;
};

// By host. Nothing where nobody has compared the clocks: what is seen there and what is seen elsewhere cannot be put
// in order.
using HostClocks = std::vector<std::optional<HostClock>>;

// When something was seen. It happened in [at - late_ns, at] of the host's clock.
struct Moment {
  std::uint32_t host = 0;
  MonotonicNs at = 0;
  std::uint64_t late_ns = 0;
};

enum class Order : std::uint8_t { kBefore, kAfter, kUnknown };

// Whether `a` happened before or after `b`. On one host its clock is compared with itself, whatever its error.
Order OrderOf(const Moment& a, const Moment& b, const HostClocks& clocks);

// The moment on the head's clock; nothing if the host's clock is not known.
std::optional<MonotonicNs> OnHead(const Moment& moment, const HostClocks& clocks);

// How long after a process died the kernel may tell of its end. It closes the files and gives back the memory first
// (exit(2): do_exit calls exit_files and exit_mm before exit_notify), so that peers can notice, fail and be told of
// earlier: 1 ms, and half a second for each GiB that was resident (up to 0.6 s were measured on a machine under load).
std::uint64_t EndLatenessNs(std::uint64_t max_rss_kib);

}  // namespace muster
