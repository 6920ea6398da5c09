#include "run/supervise/job_limits.h"

#include <cstddef>

#include "run/supervise/orders.h"

namespace muster {

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
