#include "run/supervise/job_limits.h"

#include <algorithm>
#include <cstddef>

#include "run/supervise/orders.h"

namespace muster {

SilenceWatch::SilenceWatch(const Plan& plan) : logs_(plan.processes.size()), last_end_(plan.roles.size(), 0) {
  role_of_.reserve(plan.processes.size());
  for (const Process& process : plan.processes) {
    role_of_.push_back(process.role);
    host_of_.push_back(process.host);
  }
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) {
    if (plan.roles[role].limits.silent_ms > 0) scopes_.push_back({role, plan.roles[role].limits.silent_ms});
  }
  if (plan.silent_limit_ms > 0) scopes_.push_back({std::nullopt, plan.silent_limit_ms});
  for (const SilenceScope& scope : scopes_) {
    const std::uint64_t quarter = std::max<std::uint64_t>(1, scope.limit_ms / 4);
    period_ms_ = period_ms_ == 0 ? quarter : std::min(period_ms_, quarter);
  }
}

void SilenceWatch::Started(ProcessId process, MonotonicNs now) { logs_[process] = {true, 0, now}; }

void SilenceWatch::Saw(ProcessId process, std::uint64_t bytes, MonotonicNs now) {
  Log& log = logs_[process];
  if (!log.running || log.bytes == bytes) return;
  log.bytes = bytes;
  log.heard = now;
}

void SilenceWatch::Ended(ProcessId process, MonotonicNs now) {
  if (!logs_[process].running) return;
  logs_[process].running = false;
  last_end_[role_of_[process]] = now;
}

void SilenceWatch::Paused(MonotonicNs length, MonotonicNs now) {
  for (Log& log : logs_) log.heard = std::min(now, log.heard + length);
  for (MonotonicNs& end : last_end_) end = std::min(now, end + length);
}

std::optional<SilenceWatch::Silent> SilenceWatch::Find(MonotonicNs now) const {
  for (const SilenceScope& scope : scopes_) {
    std::optional<ProcessId> first;
    MonotonicNs last_heard = 0;
    for (std::uint32_t role = 0; role < last_end_.size(); ++role) {
      if (!scope.role || role == *scope.role) last_heard = std::max(last_heard, last_end_[role]);
    }
    for (ProcessId process = 0; process < logs_.size(); ++process) {
      const Log& log = logs_[process];
      if (!log.running || (scope.role && role_of_[process] != *scope.role)) continue;
      last_heard = std::max(last_heard, log.heard);
      if (!first || log.heard < logs_[*first].heard) first = process;
    }
    if (!first || now < last_heard || now - last_heard < scope.limit_ms * 1'000'000) continue;
    // Answers of hosts to the same check arrive one after the other.
    const MonotonicNs same_check = logs_[*first].heard + period_ms_ * 1'000'000 / 2;
    Silent silent{scope, *first, true};
    for (ProcessId process = static_cast<ProcessId>(logs_.size()); process-- > 0;) {
      const Log& log = logs_[process];
      if (!log.running || (scope.role && role_of_[process] != *scope.role) || log.heard >= same_check) continue;
      silent.alone = silent.alone && host_of_[process] == host_of_[*first];
      silent.process = process;
    }
    return silent;
  }
  return std::nullopt;
}

void JobLimits::JobStarted(Orders& orders) {
  if (plan_.time_limit_ms > 0) orders.ArmIn(kTimeTimer, plan_.time_limit_ms);
  if (plan_.start_limit_ms > 0) orders.ArmIn(kStartTimer, plan_.start_limit_ms);
  if (!silence_.empty()) orders.ArmIn(kSilenceTimer, silence_.PeriodMs());
}

void JobLimits::ProcessStarted(ProcessId process, Orders& orders) {
  const Role& role = plan_.roles[plan_.processes[process].role];
  silence_.Started(process, orders.now());
  if (role.limits.time_ms > 0) orders.ArmIn(kProcessTimeTimers + process, role.limits.time_ms);
  if (role.ready.kind != Readiness::Kind::kStarted && role.ready.timeout_ms > 0) {
    orders.ArmIn(kReadyTimers + process, role.ready.timeout_ms);
  }
}

void JobLimits::ProcessEnded(const ProcessAttempt& who, Orders& orders) {
  Release(who.process, orders);
  TerminalClosed(who, orders);
  silence_.Ended(who.process, orders.now());
}

void JobLimits::Release(ProcessId process, Orders& orders) {
  orders.Disarm(kReadyTimers + process);
  orders.Disarm(kProcessTimeTimers + process);
}

void JobLimits::TerminalOpened(const ProcessAttempt& who, Orders& orders) {
  if (at_terminal_) return;
  at_terminal_ = who;
  terminal_since_ = orders.now();
  orders.PauseTimers();
}

void JobLimits::TerminalClosed(const ProcessAttempt& who, Orders& orders) {
  if (!at_terminal_ || at_terminal_->process != who.process || at_terminal_->attempt != who.attempt) return;
  at_terminal_.reset();
  silence_.Paused(orders.now() - terminal_since_, orders.now());
  orders.ResumeTimers();
}

void JobLimits::AskForOutput(const std::vector<bool>& over, Orders& orders) {
  if (answers_due_.empty()) {
    for (std::uint32_t machine = 0; machine < over.size(); ++machine) {
      if (!over[machine]) answers_due_.insert(machine);
    }
    orders.Add(RequestOutput{});
  }
  orders.ArmIn(kSilenceTimer, silence_.PeriodMs());
}

std::optional<SilenceWatch::Silent> JobLimits::Answered(const OutputSeen& answer, MonotonicNs now) {
  for (std::size_t i = 0; i < answer.processes.size() && i < answer.bytes.size(); ++i) {
    if (answer.processes[i] < plan_.processes.size()) silence_.Saw(answer.processes[i], answer.bytes[i], now);
  }
  const bool last = answers_due_.erase(answer.host) > 0 && answers_due_.empty();
  if (!last || at_terminal_) return std::nullopt;
  return silence_.Find(now);
}

}  // namespace muster
