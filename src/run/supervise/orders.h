// The result of one event: a list of actions in the order in which they must be performed, and the state of the timers.
// The supervisor's parts add to it; it decides nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "muster/event.h"
#include "run/supervise/action.h"
#include "run/supervise/pausable_timers.h"

namespace muster {

constexpr MonotonicNs FromMs(std::uint64_t ms) { return ms * 1'000'000; }

class Orders {
 public:
  // Starts a new event that is handled at `now`.
  void Begin(MonotonicNs now) { now_ = now; }
  MonotonicNs now() const { return now_; }
  // All actions since the last call.
  std::vector<Action> Take() { return std::exchange(actions_, {}); }

  void Add(Action action) { actions_.push_back(std::move(action)); }
  void ArmAt(std::uint64_t timer, MonotonicNs deadline);
  void ArmIn(std::uint64_t timer, std::uint64_t ms) { ArmAt(timer, now_ + FromMs(ms)); }
  // Does nothing if the timer is not armed.
  void Disarm(std::uint64_t timer);
  void DisarmAll();
  // Handles the expiry of the timer. Returns whether it was armed.
  bool Passed(std::uint64_t timer) { return timers_.Disarm(timer); }
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const { return timers_.Deadline(timer); }
  void PauseTimers();
  void ResumeTimers();

 private:
  MonotonicNs now_ = 0;
  PausableTimers timers_;
  std::vector<Action> actions_;
};

}  // namespace muster
