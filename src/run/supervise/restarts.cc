#include "run/supervise/restarts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "run/supervise/orders.h"
#include "run/supervise/process_states.h"

namespace muster {

bool Restarts(const RestartPolicy& policy, const HowEnded& end) {
  if (policy.max == 0) return false;
  if (end.Well()) return policy.success;
  if (policy.any_failure) return true;
  switch (end.kind) {
    case HowEnded::Kind::kExited:
      return std::find(policy.codes.begin(), policy.codes.end(), end.code) != policy.codes.end();
    case HowEnded::Kind::kSignalled:
      return std::any_of(policy.signals.begin(), policy.signals.end(),
                         [&](const std::string& name) { return SignalNumber(name) == end.code; });
    case HowEnded::Kind::kNotStarted:
    case HowEnded::Kind::kLimit:
    case HowEnded::Kind::kLost:
      return false;
  }
  return false;
}

std::optional<RestartBudget::Grant> RestartBudget::Take(const RestartPolicy& policy, MonotonicNs now) {
  const MonotonicNs within = policy.within_ms * 1'000'000;
  while (within > 0 && !granted_.empty() && now - granted_.front() >= within) granted_.pop_front();
  if (granted_.size() >= policy.max) return std::nullopt;
  std::uint64_t delay_ms = policy.backoff_ms;
  for (std::size_t i = 0; i < granted_.size() && delay_ms < RestartPolicy::kMaxBackoffMs; ++i) delay_ms *= 2;
  // A delay that the recipe sets is not limited, only its growth is.
  delay_ms = std::min<std::uint64_t>(delay_ms, std::max(policy.backoff_ms, RestartPolicy::kMaxBackoffMs));
  granted_.push_back(now);
  return Grant{static_cast<std::uint32_t>(granted_.size()), static_cast<std::uint32_t>(delay_ms)};
}

RestartRounds::RestartRounds(const Plan& plan)
    : plan_(plan), budgets_(plan.roles.size()), number_of_(plan.processes.size()) {}

std::optional<RestartBudget::Grant> RestartRounds::Take(std::uint32_t role, MonotonicNs now, std::string& why) {
  const RestartPolicy& policy = plan_.roles[role].restart;
  const std::optional<RestartBudget::Grant> grant = budgets_[role].Take(policy, now);
  if (!grant) {
    why += fmt::format("; {} of role {} {} used up",
                       policy.max == 1 ? "the only restart" : fmt::format("all {} restarts", policy.max),
                       plan_.roles[role].name, policy.max == 1 ? "is" : "are");
  }
  return grant;
}

std::uint64_t RestartRounds::Begin(const std::vector<ProcessId>& members, ProcessStates& states, Orders& orders) {
  const std::uint64_t number = next_++;
  Restart restart;
  restart.processes = members;
  restart.members = static_cast<std::uint32_t>(members.size());
  std::vector<ProcessId> to_stop;
  for (const ProcessId process : members) {
    Leave(process, states, orders);  // leaves a narrower restart, whose members are all included in this one
    orders.Disarm(kReadyTimers + process);
    orders.Disarm(kProcessTimeTimers + process);
    if (states.Renew(process) == ProcessEffect::kSignal) to_stop.push_back(process);
    number_of_[process] = number;
    if (states.state(process) == ProcessState::kStopping) ++restart.stopping;
  }
  under_way_.emplace(number, std::move(restart));
  if (!to_stop.empty()) OrderStops(plan_, to_stop, false, states.left() > 0, orders);
  return number;
}

void RestartRounds::Leave(ProcessId process, const ProcessStates& states, Orders& orders) {
  if (!number_of_[process]) return;
  const std::uint64_t number = *std::exchange(number_of_[process], std::nullopt);
  Restart& restart = under_way_.at(number);
  if (states.state(process) == ProcessState::kStopping) --restart.stopping;
  if (--restart.members > 0) return;
  orders.Disarm(kRenewalTimers + number);
  under_way_.erase(number);
}

void RestartRounds::DelayOver(std::uint64_t number) {
  if (const auto found = under_way_.find(number); found != under_way_.end()) found->second.delay_over = true;
}

std::optional<std::uint64_t> RestartRounds::Ended(ProcessId process, ProcessStates& states) {
  const std::optional<std::uint64_t> number = number_of_[process];
  if (!number) return std::nullopt;
  states.Apply(process, ProcessInput::kRest);
  --under_way_.at(*number).stopping;
  return number;
}

std::vector<std::uint32_t> RestartRounds::TakeDue(std::uint64_t number, ProcessStates& states) {
  const auto found = under_way_.find(number);
  if (found == under_way_.end() || !found->second.delay_over || found->second.stopping > 0) return {};
  const Restart due = std::move(found->second);
  under_way_.erase(found);
  std::vector<bool> again(plan_.roles.size(), false);
  for (const ProcessId process : due.processes) {
    if (number_of_[process] != number) continue;  // it has joined a wider restart
    number_of_[process].reset();
    states.BeginNextAttempt(process);
    again[plan_.processes[process].role] = true;
  }
  std::vector<std::uint32_t> roles;
  for (std::uint32_t role = 0; role < again.size(); ++role) {
    if (again[role]) roles.push_back(role);
  }
  return roles;
}

std::vector<std::uint64_t> RestartRounds::Numbers() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(under_way_.size());
  for (const auto& [number, restart] : under_way_) numbers.push_back(number);
  return numbers;
}

void RestartRounds::Cancel(Orders& orders) {
  for (const auto& [number, restart] : under_way_) {
    orders.Disarm(kRenewalTimers + number);
    for (const ProcessId process : restart.processes) number_of_[process].reset();
  }
  under_way_.clear();
}

bool PortRebinding::Concerns(const ProcessAttempt& who) const {
  return taken_ && taken_->process == who.process && taken_->attempt == who.attempt;
}

bool PortRebinding::Allowed(const Plan& plan, std::string& why) const {
  const auto port = plan.ports.find(taken_->port);
  if (port == plan.ports.end() || port->second.number != 0) return false;  // a number set by the recipe must not change
  if (times_ < kMaxRebinds) return true;
  why += fmt::format(", and the job already got other ports {} times", kMaxRebinds);
  return false;
}

std::uint32_t PortRebinding::Begin() {
  under_way_ = true;
  return ++times_;
}

bool PortRebinding::End() { return std::exchange(under_way_, false); }

}  // namespace muster
