// Schedules heartbeats and detects missing ones. Silence is counted in our own heartbeats, not in seconds: a
// process that was stopped for an hour and continues has counted nothing against others. Independent of clock and
// links.
#pragma once

#include <algorithm>
#include <optional>

#include "ps_digits/socket.h"

namespace ps_digits {

class Pulse {
 public:
  // Without a timeout: sends heartbeats, and accepts any silence.
  Pulse(std::optional<std::chrono::seconds> timeout, Clock::time_point now) {
    const Clock::duration longest = kLongestInterval;
    interval_ = timeout ? std::min<Clock::duration>(longest, Clock::duration(*timeout) / 4) : longest;
    if (timeout) max_missed_ = (Clock::duration(*timeout) + interval_ - Clock::duration(1)) / interval_;
    next_ = now + interval_;
  }

  Clock::time_point next() const { return next_; }

  // True once per interval; heartbeats that were missed while stopped are not sent later.
  bool IsDue(Clock::time_point now) {
    if (now < next_) return false;
    next_ = now + interval_;
    return true;
  }

  bool TooLong(Clock::rep missed_beats) const { return max_missed_ && missed_beats > *max_missed_; }

 private:
  static constexpr std::chrono::seconds kLongestInterval{3};

  Clock::duration interval_{};
  Clock::time_point next_;
  std::optional<Clock::rep> max_missed_;
};

}  // namespace ps_digits
