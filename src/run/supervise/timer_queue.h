// Timers by number, ordered by deadline. Pure: uses no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "muster/event.h"

namespace muster {

class TimerQueue {
 public:
  // Arms the timer, or moves its deadline.
  void Arm(std::uint64_t timer, MonotonicNs deadline);
  // Returns whether it was armed.
  bool Disarm(std::uint64_t timer);
  void Clear();

  bool empty() const { return by_timer_.empty(); }
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const;
  std::optional<MonotonicNs> Earliest() const;
  // Disarms and returns the earliest timer that is due; of several at the same time the one with the lowest number.
  std::optional<std::uint64_t> TakeDue(MonotonicNs now);

  // All armed timers, by number.
  const std::map<std::uint64_t, MonotonicNs>& armed() const { return by_timer_; }

 private:
  std::map<std::uint64_t, MonotonicNs> by_timer_;
  std::set<std::pair<MonotonicNs, std::uint64_t>> by_deadline_;
};

}  // namespace muster
