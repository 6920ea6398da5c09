// The part of the supervisor that starts processes again: who, after whom, and when.
#include <utility>

#include <fmt/format.h>

#include "plan/plan/policy_names.h"
#include "run/journal/ending_text.h"
#include "run/supervise/supervisor.h"

namespace muster {

bool Supervisor::Restart(const ProcessAttempt& who, MonotonicNs now) {
  if (!AtWork()) return false;
  const std::uint32_t role = plan_.processes[who.process].role;
  const RestartPolicy& policy = plan_.roles[role].restart;
  const std::optional<RestartBudget::Grant> grant = budgets_[role].Take(policy, now);
  if (!grant) {
    why_ += fmt::format("; the {} restarts that role {} has are used up", policy.max, plan_.roles[role].name);
    return false;
  }
  std::vector<ProcessId> members = RestartMembers(who.process, policy.scope);
  actions_.emplace_back(RestartPlanned{who.process, who.attempt, std::string(RestartScopeName(policy.scope)), members,
                                       grant->count, policy.max, grant->delay_ms, why_});
  const std::uint64_t renewal = BeginRenewal(members, now);
  Arm(kRenewalTimers + renewal, now + std::uint64_t{grant->delay_ms} * 1'000'000);
  return true;
}

void Supervisor::OnTaken(const PortTaken& event, MonotonicNs now) {
  if (!IsCurrent({event.process, event.attempt}, "lacks a port")) return;
  taken_ = event;
  // One that runs may get its port yet, if it is one that no other can stand in for.
  if (!event.running || processes_[event.process].state != ProcessState::kRunning) return;
  const ProcessAttempt who{event.process, event.attempt};
  failing_ = who;
  failing_end_ = {HowEnded::Kind::kLimit, 1};
  failing_at_ = event.at;
  why_ = fmt::format("{} cannot listen", NameOf(event.process));
  RestartElsewhere(who, now);
}

bool Supervisor::RestartElsewhere(const ProcessAttempt& who, MonotonicNs now) {
  if (!taken_ || taken_->process != who.process || taken_->attempt != who.attempt || !AtWork()) return false;
  why_ += fmt::format("; {}", TakenText(*taken_));
  if (!replacing_.empty()) return false;  // one thing after the other: its role's policy is asked
  const auto port = plan_.ports.find(taken_->port);
  if (port == plan_.ports.end() || port->second.number != 0) return false;  // the recipe's numbers are the recipe's
  if (rebinds_ == kMostRebinds) {
    why_ += fmt::format(", and the job has had other ports {} times", kMostRebinds);
    return false;
  }
  const std::vector<ProcessId> members = RestartMembers(who.process, RestartPolicy::Scope::kJob);
  ++rebinds_;
  actions_.emplace_back(RestartPlanned{who.process, who.attempt,
                                       std::string(RestartScopeName(RestartPolicy::Scope::kJob)), members, rebinds_,
                                       kMostRebinds, 0, why_});
  renewals_.at(BeginRenewal(members, now)).rested = true;
  rebinding_ = true;
  actions_.emplace_back(RebindOrdered{});
  return true;
}

void Supervisor::OnRebound(const PlanRebound& event, MonotonicNs now) {
  if (!std::exchange(rebinding_, false)) return;  // the job is over
  if (!event.error.empty()) {
    why_ = fmt::format("there are no other ports: {}", event.error);
    return Apply(JobInput::kUnready, now);
  }
  StartDue();
}

void Supervisor::StartDue() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, renewal] : renewals_) numbers.push_back(number);
  for (const std::uint64_t number : numbers) RenewIfDue(number);
  for (std::uint32_t role = 0; role < order_.roles(); ++role) {
    if (order_.MayStart(role)) StartRole(role);
  }
}

std::vector<ProcessId> Supervisor::RestartMembers(ProcessId process, RestartPolicy::Scope scope) const {
  ProcessId first = process;
  ProcessId last = process + 1;
  switch (scope) {
    case RestartPolicy::Scope::kProcess:
      break;
    case RestartPolicy::Scope::kRole:
      first = order_.First(plan_.processes[process].role);
      last = order_.Last(plan_.processes[process].role);
      break;
    case RestartPolicy::Scope::kJob:
      first = 0;
      last = static_cast<ProcessId>(processes_.size());
      break;
  }
  std::vector<ProcessId> members;
  for (ProcessId each = first; each < last; ++each) {
    if (processes_[each].state != ProcessState::kWaiting) members.push_back(each);
  }
  return members;
}

std::uint64_t Supervisor::BeginRenewal(const std::vector<ProcessId>& members, MonotonicNs now) {
  const std::uint64_t number = next_renewal_++;
  Renewal renewal;
  std::vector<ProcessId> to_stop;
  for (const ProcessId process : members) {
    LeaveRenewal(process);  // of a narrower scope, whose members are all among these
    Progress& progress = processes_[process];
    if (order_.IsReady(process)) {
      order_.SetUnready(process);
      if (progress.state != ProcessState::kEnded) ++unready_;
    }
    MarkWell(process, false);
    Disarm(kReadyTimers + process);
    Disarm(kProcessTimeTimers + process);
    if (ApplyTo(process, ProcessInput::kRenew) == ProcessEffect::kSignal) to_stop.push_back(process);
    progress.renewal = number;
    renewal.processes.push_back(process);
    ++renewal.members;
    if (progress.state == ProcessState::kStopping) ++renewal.stopping;
  }
  renewals_.emplace(number, std::move(renewal));
  if (!to_stop.empty()) OrderStops(to_stop, false, now);
  return number;
}

void Supervisor::LeaveRenewal(ProcessId process) {
  Progress& progress = processes_[process];
  if (!progress.renewal) return;
  const std::uint64_t number = *std::exchange(progress.renewal, std::nullopt);
  Renewal& renewal = renewals_.at(number);
  if (progress.state == ProcessState::kStopping) --renewal.stopping;
  if (--renewal.members > 0) return;
  Disarm(kRenewalTimers + number);
  renewals_.erase(number);
}

void Supervisor::OnRenewedEnded(ProcessId process) {
  const std::uint64_t number = *processes_[process].renewal;
  ApplyTo(process, ProcessInput::kRest);
  --renewals_.at(number).stopping;
  RenewIfDue(number);
}

void Supervisor::OnDelayOver(std::uint64_t renewal) {
  const auto found = renewals_.find(renewal);
  if (found == renewals_.end()) return;
  found->second.rested = true;
  RenewIfDue(renewal);
}

void Supervisor::RenewIfDue(std::uint64_t renewal) {
  const auto found = renewals_.find(renewal);
  if (found == renewals_.end() || rebinding_ || !replacing_.empty() || !found->second.rested ||
      found->second.stopping > 0)
    return;
  const Renewal due = std::move(found->second);
  renewals_.erase(found);
  std::vector<bool> roles(plan_.roles.size(), false);
  for (const ProcessId process : due.processes) {
    Progress& progress = processes_[process];
    if (progress.renewal != renewal) continue;  // a wider restart took it over
    ApplyTo(process, ProcessInput::kRested);
    const std::uint32_t attempt = progress.attempt + 1;
    progress = Progress();
    progress.attempt = attempt;
    roles[plan_.processes[process].role] = true;
  }
  for (std::uint32_t role = 0; role < roles.size(); ++role) {
    if (roles[role] && order_.MayStart(role)) StartRole(role);
  }
}

void Supervisor::ForgetRenewals() {
  for (const auto& [number, renewal] : renewals_) {
    Disarm(kRenewalTimers + number);
    for (const ProcessId process : renewal.processes) processes_[process].renewal.reset();
  }
  renewals_.clear();
  rebinding_ = false;
  replacing_.clear();
}

}  // namespace muster
