// Timers by number, and which of them is due next. Knows no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "muster/event.h"

namespace muster {

constexpr MonotonicNs FromMs(std::uint64_t ms) { return ms * 1'000'000; }

class TimerQueue {
 public:
  // Arms, or moves one that is armed.
  void Arm(std::uint64_t timer, MonotonicNs deadline);
  // Whether it was armed.
  bool Disarm(std::uint64_t timer);
  void Clear();

  bool empty() const { return by_timer_.empty(); }
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const;
  std::optional<MonotonicNs> Earliest() const;
  // The earliest that is due, disarmed; of several at the same time the one with the lowest number.
  std::optional<std::uint64_t> TakeDue(MonotonicNs now);

  // The numbers of all that are armed, in order.
  const std::map<std::uint64_t, MonotonicNs>& armed() const { return by_timer_; }

 private:
  std::map<std::uint64_t, MonotonicNs> by_timer_;
  std::set<std::pair<MonotonicNs, std::uint64_t>> by_deadline_;
};

}  // namespace muster
