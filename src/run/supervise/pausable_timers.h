// The armed timers, some of which can be paused: while a process has the user's terminal, the job's deadlines keep what
// is left of them (Pauses, run/supervise/action.h). Knows no clock.
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
  // Whether the timer runs now. If not, it is held until Resume().
  bool Arm(std::uint64_t timer, MonotonicNs deadline, MonotonicNs now);
  // Whether it ran. A held timer is forgotten.
  bool Disarm(std::uint64_t timer);
  // Returns those that ran, in order.
  std::vector<std::uint64_t> DisarmAll();
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const { return running_.Deadline(timer); }

  // Holds the timers that pause; returns those that ran, in order. Must not be paused already.
  std::vector<std::uint64_t> Pause(MonotonicNs now);
  // Runs the held timers for what was left of them; returns them with their deadlines, in order.
  std::vector<std::pair<std::uint64_t, MonotonicNs>> Resume(MonotonicNs now);

 private:
  TimerQueue running_;
  bool paused_ = false;
  std::map<std::uint64_t, MonotonicNs> held_;  // what is left of each
};

}  // namespace muster
