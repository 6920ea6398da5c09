// The part of the supervisor that knows limits: what happens when a deadline passes, or a silence lasts too long.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/units.h"
#include "run/journal/ending_text.h"
#include "run/supervise/supervisor.h"

namespace muster {
namespace {

std::string MsText(std::uint64_t ms) { return DurationText(static_cast<double>(ms) / 1000); }

}  // namespace

void Supervisor::OnOutput(const OutputSeen& event, MonotonicNs now) {
  for (std::size_t i = 0; i < event.processes.size() && i < event.bytes.size(); ++i) {
    if (event.processes[i] < processes_.size()) silence_.Saw(event.processes[i], event.bytes[i], now);
  }
  // Only what all hosts have told is a silence.
  if (!AnsweredOutput(event.host) || !AtWork() || at_terminal_) return;
  if (const std::optional<SilenceWatch::Silent> silent = silence_.Find(now)) OnSilent(*silent, now);
}

bool Supervisor::AnsweredOutput(std::uint32_t machine) {
  return answers_due_.erase(machine) > 0 && answers_due_.empty();
}

void Supervisor::PassLimit(ProcessId process, std::string_view limit, std::uint64_t ms, MonotonicNs now) {
  const ProcessAttempt who{process, processes_[process].attempt};
  LimitPassed passed{who.process, who.attempt, std::string(limit), ms};
  why_ = fmt::format("{} {}", NameOf(process), EndingText(passed));
  actions_.emplace_back(std::move(passed));
  failing_at_ = now;
  failing_moment_.reset();
  OnFailure(who, {HowEnded::Kind::kLimit, 1}, now);
}

void Supervisor::OnDeadline(std::uint64_t timer, MonotonicNs now) {
  if (!timers_.Disarm(timer)) {
    actions_.emplace_back(StrayEvent{fmt::format("timer {} was not armed", timer)});
  } else if (timer >= kReadyTimers) {
    OnProcessDeadline(timer, now);
  } else if (timer == kTimeTimer) {
    why_ = fmt::format("the time limit of {} passed", MsText(plan_.time_limit_ms));
    Apply(JobInput::kTimePassed, now);
  } else if (timer == kStartTimer) {
    why_ = fmt::format("not everything was ready within {}: {}", MsText(plan_.start_limit_ms), UnreadyText());
    Apply(JobInput::kTimePassed, now);
  } else if (timer == kSilenceTimer) {
    if (answers_due_.empty()) {
      for (std::uint32_t machine = 0; machine < slots_.machines(); ++machine) {
        if (!machine_over_[machine]) answers_due_.insert(machine);
      }
      actions_.emplace_back(AskOutput{});
    }
    Arm(kSilenceTimer, now + FromMs(silence_.PeriodMs()));
  } else if (timer == kDumpTimer) {
    EndDump(false, now);
  } else if (timer == kCheckpointTimer) {
    EndCheckpoint(now);
  } else if (timer == kStopTimer) {
    const auto stuck = std::find_if(processes_.begin(), processes_.end(),
                                    [](const Progress& p) { return p.state == ProcessState::kStopping; });
    if (stuck != processes_.end()) {
      why_ = fmt::format("{} did not exit after SIGKILL", NameOf(static_cast<ProcessId>(stuck - processes_.begin())));
    }
    Apply(JobInput::kStopOverdue, now);
  } else if (timer == kFinishTimer) {
    why_ = "an agent did not confirm the end of the run";
    Apply(JobInput::kFinishOverdue, now);
  } else {
    linger_role_ = static_cast<std::uint32_t>(timer - kLingerTimers);
    Apply(JobInput::kLingerPassed, now);
  }
}

void Supervisor::OnProcessDeadline(std::uint64_t timer, MonotonicNs now) {
  if (timer >= kRenewalTimers) return OnDelayOver(timer - kRenewalTimers);
  const bool of_time = timer >= kProcessTimeTimers;
  const auto process = static_cast<ProcessId>(timer - (of_time ? kProcessTimeTimers : kReadyTimers));
  if (processes_[process].state != ProcessState::kRunning || !AtWork()) return;
  const Role& role = RoleOf(process);
  PassLimit(process, of_time ? "time" : "ready", of_time ? role.limits.time_ms : role.ready.timeout_ms, now);
}

void Supervisor::OnPtyOpened(const ProcessAttempt& who, MonotonicNs now) {
  if (!IsCurrent(who, "got a terminal") || at_terminal_) return;  // there is one user, and one terminal
  const std::map<std::uint64_t, MonotonicNs> armed = timers_.armed();
  at_terminal_ = who;
  paused_at_ = now;
  for (const auto& [timer, deadline] : armed) {
    if (!Pauses(timer)) continue;
    Disarm(timer);
    held_[timer] = deadline - std::min(deadline, now);
  }
}

void Supervisor::OnPtyGone(const ProcessAttempt& who, MonotonicNs now) {
  if (!at_terminal_ || at_terminal_->process != who.process || at_terminal_->attempt != who.attempt) return;
  at_terminal_.reset();
  silence_.Paused(now - paused_at_, now);
  for (const auto& [timer, left] : std::exchange(held_, {})) Arm(timer, now + left);
}

std::string Supervisor::UnreadyText() const {
  std::string first;
  std::uint32_t others = 0;
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (order_.IsReady(process) || processes_[process].state == ProcessState::kEnded) continue;
    if (first.empty()) {
      first = NameOf(process);
    } else {
      ++others;
    }
  }
  return others == 0 ? first + " was not" : fmt::format("{} and {} more were not", first, others);
}

}  // namespace muster
