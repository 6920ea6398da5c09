// Estimates the offset between a host's clock and ours from the times of round trips, as in RFC 5905, section 8.
//
// Pure computation. The clocks are monotonic ones, which may be days apart and run at nearly the same rate.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace muster {

struct ClockEstimate {
  std::int64_t offset_ns = 0;  // our time is the host's plus this, …
  std::uint64_t error_ns = 0;  // … with this uncertainty: half of the round-trip time

  bool operator==(const ClockEstimate&) const = default;
};

class ClockOffset {
 public:
  // Adds a round trip: the host sent a message at `sent`, this process answered it at `answered`, and the answer
  // arrived at the host at `back`; `sent` and `back` by the host's clock. Impossible times are ignored.
  void Add(std::uint64_t sent, std::uint64_t answered, std::uint64_t back);

  // The best of the latest estimates; empty before the first Add().
  std::optional<ClockEstimate> best() const;
  // Whether the estimate should be reported: true for the first one, for one with at most half the error of the last
  // reported one, and for one that contradicts it.
  bool Better();

 private:
  static constexpr std::size_t kLatest = 16;  // older ones may be wrong by the drift of the clocks

  std::deque<ClockEstimate> latest_;
  std::optional<ClockEstimate> reported_;
};

}  // namespace muster
