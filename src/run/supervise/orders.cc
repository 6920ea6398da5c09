#include "run/supervise/orders.h"

#include <algorithm>
#include <csignal>
#include <cstddef>

#include "base/values/abnormal_exit.h"

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

void Orders::ArmAt(std::uint64_t timer, MonotonicNs deadline) {
  if (timers_.Arm(timer, deadline, now_)) Add(ArmTimer{timer, deadline});
}

void Orders::Disarm(std::uint64_t timer) {
  if (timers_.Disarm(timer)) Add(DisarmTimer{timer});
}

void Orders::DisarmAll() {
  for (const std::uint64_t timer : timers_.DisarmAll()) Add(DisarmTimer{timer});
}

void Orders::PauseTimers() {
  for (const std::uint64_t timer : timers_.Pause(now_)) Add(DisarmTimer{timer});
}

void Orders::ResumeTimers() {
  for (const auto& [timer, deadline] : timers_.Resume(now_)) Add(ArmTimer{timer, deadline});
}

void OrderStops(const Plan& plan, const std::vector<ProcessId>& processes, bool at_once, bool any_left,
                Orders& orders) {
  std::vector<std::vector<ProcessId>> by_role(plan.roles.size());
  for (const ProcessId process : processes) by_role[plan.processes[process].role].push_back(process);
  std::uint32_t longest_ms = 0;
  for (std::size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role].empty()) continue;
    const StopPolicy& policy = plan.roles[role].stop;
    StopOrdered order{std::move(by_role[role]), SIGKILL, 0};
    if (!at_once) {
      order.signal = SignalNumber(policy.signal).value_or(SIGTERM);
      order.grace_ms = policy.grace_ms;
    }
    longest_ms = std::max(longest_ms, order.grace_ms);
    orders.Add(std::move(order));
  }
  MonotonicNs deadline = orders.now() + FromMs(std::uint64_t{longest_ms} + kStopMarginMs);
  if (const auto armed = orders.Deadline(kStopTimer); armed && !at_once) deadline = std::max(deadline, *armed);
  if (any_left) orders.ArmAt(kStopTimer, deadline);
}

}  // namespace muster
