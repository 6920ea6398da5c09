// How the clock of a host is read on ours, from messages that went there and back: the estimate of RFC 5905, section 8.
//
// Pure: knows times. The clocks are monotonic ones, which may be days apart and run at nearly one pace.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace muster {

struct ClockEstimate {
  std::int64_t offset_ns = 0;  // our time is the host's plus this, …
  std::uint64_t error_ns = 0;  // … give or take this: half of the time on the way

  bool operator==(const ClockEstimate&) const = default;
};

class ClockOffset {
 public:
  // A message that the host sent at `sent`, was answered here at `answered` as soon as it came, and the answer came
  // back at `back`: `sent` and `back` by the host's clock. What cannot be is passed over.
  void Add(std::uint64_t sent, std::uint64_t answered, std::uint64_t back);

  // The best of the latest; nothing before the first Add().
  std::optional<ClockEstimate> best() const;
  // True if there is something worth telling since this was last asked: the first estimate, one whose error is a half
  // or less, or one that contradicts what was told.
  bool Better();

 private:
  static constexpr std::size_t kLatest = 16;  // older ones may be wrong by how the clocks drift

  std::deque<ClockEstimate> latest_;
  std::optional<ClockEstimate> told_;
};

}  // namespace muster
