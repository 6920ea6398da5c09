#include "run/supervise/timer_queue.h"

namespace muster {

void TimerQueue::Arm(std::uint64_t timer, MonotonicNs deadline) {
  Disarm(timer);
  by_timer_.emplace(timer, deadline);
  by_deadline_.emplace(deadline, timer);
}

bool TimerQueue::Disarm(std::uint64_t timer) {
  const auto found = by_timer_.find(timer);
  if (found == by_timer_.end()) return false;
  by_deadline_.erase({found->second, timer});
  by_timer_.erase(found);
  return true;
}

void TimerQueue::Clear() {
  by_timer_.clear();
  by_deadline_.clear();
}

std::optional<MonotonicNs> TimerQueue::Deadline(std::uint64_t timer) const {
  const auto found = by_timer_.find(timer);
  return found == by_timer_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<MonotonicNs> TimerQueue::Earliest() const {
  return by_deadline_.empty() ? std::nullopt : std::optional(by_deadline_.begin()->first);
}

std::optional<std::uint64_t> TimerQueue::TakeDue(MonotonicNs now) {
  if (by_deadline_.empty() || by_deadline_.begin()->first > now) return std::nullopt;
  const std::uint64_t timer = by_deadline_.begin()->second;
  Disarm(timer);
  return timer;
}

}  // namespace muster
