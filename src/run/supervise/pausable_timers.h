// The armed timers, some of which can be paused: while a process has the user's terminal, the deadlines of the job keep
// their remaining time (Pauses, run/supervise/action.h). Pure: uses no clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "muster/event.h"
#include "run/supervise/timer_queue.h"

namespace muster {

class PausableTimers {
 public:
  // Returns whether the timer runs now. If not, it is held until Resume().
  bool Arm(std::uint64_t timer, MonotonicNs deadline, MonotonicNs now);
  // Returns whether it was running. A held timer is discarded.
  bool Disarm(std::uint64_t timer);
  // Returns those that were running, in order.
  std::vector<std::uint64_t> DisarmAll();
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const { return running_.Deadline(timer); }

  // Holds the timers that can be paused; returns those that were running, in order. Must not be called twice without
  // Resume().
  std::vector<std::uint64_t> Pause(MonotonicNs now);
  // Restarts the held timers with their remaining times; returns them with their deadlines, in order.
  std::vector<std::pair<std::uint64_t, MonotonicNs>> Resume(MonotonicNs now);

 private:
  TimerQueue running_;
  bool paused_ = false;
  std::map<std::uint64_t, MonotonicNs> held_;  // remaining time of each
};

}  // namespace muster
