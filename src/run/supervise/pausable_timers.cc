#include "run/supervise/pausable_timers.h"

#include <algorithm>

#include "run/supervise/action.h"

namespace muster {

bool PausableTimers::Arm(std::uint64_t timer, MonotonicNs deadline, MonotonicNs now) {
  if (paused_ && Pauses(timer)) {
    held_[timer] = deadline - now;
    return false;
  }
  running_.Arm(timer, deadline);
  return true;
}

bool PausableTimers::Disarm(std::uint64_t timer) {
  held_.erase(timer);
  return running_.Disarm(timer);
}

std::vector<std::uint64_t> PausableTimers::DisarmAll() {
  std::vector<std::uint64_t> ran;
  for (const auto& [timer, deadline] : running_.armed()) ran.push_back(timer);
  running_.Clear();
  held_.clear();
  return ran;
}

std::vector<std::uint64_t> PausableTimers::Pause(MonotonicNs now) {
  paused_ = true;
  std::vector<std::uint64_t> ran;
  for (const auto& [timer, deadline] : running_.armed()) {
    if (!Pauses(timer)) continue;
    held_[timer] = deadline - std::min(deadline, now);
    ran.push_back(timer);
  }
  for (const std::uint64_t timer : ran) running_.Disarm(timer);
  return ran;
}

std::vector<std::pair<std::uint64_t, MonotonicNs>> PausableTimers::Resume(MonotonicNs now) {
  paused_ = false;
  std::vector<std::pair<std::uint64_t, MonotonicNs>> resumed;
  for (const auto& [timer, left] : std::exchange(held_, {})) {
    running_.Arm(timer, now + left);
    resumed.emplace_back(timer, now + left);
  }
  return resumed;
}

}  // namespace muster
