#include "run/supervise/supervisor.h"

#include <csignal>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

std::string MsText(std::uint64_t ms) { return DurationText(static_cast<double>(ms) / 1000); }

// "worker.0 was not", "worker.0 and 3 more were not"
std::string UnreadyText(const Plan& plan, const ProcessStates& states) {
  std::string first;
  std::uint32_t others = 0;
  for (ProcessId process = 0; process < states.count(); ++process) {
    if (states.order().IsReady(process) || states.state(process) == ProcessState::kEnded) continue;
    if (first.empty()) {
      first = ProcessName(plan, plan.processes[process]);
    } else {
      ++others;
    }
  }
  return others == 0 ? first + " was not" : fmt::format("{} and {} more were not", first, others);
}

std::optional<JobInput> DueFromCounts(Phase phase, const ProcessStates& states, std::uint32_t machines_left) {
  switch (phase) {
    case Phase::kStarting:
    case Phase::kRunning:
      if (states.left() == 0) return JobInput::kAllEnded;
      if (states.WorkIsDone()) return JobInput::kMustsEnded;
      if (phase == Phase::kStarting && states.unready() == 0) return JobInput::kAllReady;
      return std::nullopt;
    case Phase::kLingering:
    case Phase::kStopping:
      if (states.left() == 0) return JobInput::kAllEnded;
      return std::nullopt;
    case Phase::kFinishing:
      if (machines_left == 0) return JobInput::kAgentsEmpty;
      return std::nullopt;
    case Phase::kPreparing:
    case Phase::kDone:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, const std::vector<SiteHost>& spares)
    : plan_(plan), processes_(plan, spares), cause_(plan, slots().machines()) {}

std::vector<Action> Supervisor::Begin(MonotonicNs now) {
  orders_.Begin(now);
  Apply(JobInput::kBegin);
  return Settle();
}

std::vector<Action> Supervisor::Abandon(std::string why, MonotonicNs now) {
  orders_.Begin(now);
  why_ = std::move(why);
  Apply(JobInput::kUnready);
  return Settle();
}

std::vector<Action> Supervisor::Step(const Event& event, MonotonicNs now) {
  orders_.Begin(now);
  On(event);
  return Settle();
}

void Supervisor::On(const Event& event) {
  ProcessStates& states = processes_.states();
  JobLimits& limits = processes_.limits();
  std::visit(
      Overloaded{[&](const ProcessStarted& e) {
                   processes_.Started({e.process, e.attempt}, orders_);
                 },
                 [&](const ProcessReady& e) {
                   if (!processes_.IsLatest({e.process, e.attempt}, "became ready", orders_)) return;
                   // It may have been stopped meanwhile.
                   if (states.state(e.process) == ProcessState::kRunning) processes_.Ready(e.process, orders_);
                 },
                 [&](const OutputSeen& e) {
                   const std::optional<SilenceWatch::Silent> silent = limits.Answered(e, orders_.now());
                   if (!silent || !AtWork()) return;
                   dump_.Begin(silent->scope.role ? "silent" : "silent_job", processes_.hosts().over(), orders_);
                   dump_.DelaySilence(*silent, states.attempt(silent->process));
                 },
                 [&](const SpawnFailed& e) {
                   OnEnded({{e.process, e.attempt}, {HowEnded::Kind::kNotStarted, e.error}, e.at, {}}, EndingText(e));
                 },
                 [&](const ProcessExited& e) {
                   const auto kind = e.signalled ? HowEnded::Kind::kSignalled : HowEnded::Kind::kExited;
                   Moment moment;
                   if (e.process < states.count()) {
                     moment = {slots().machine(plan_.processes[e.process].host), e.at, EndLatenessNs(e.max_rss_kib)};
                   }
                   OnEnded({{e.process, e.attempt}, {kind, e.code}, e.at, moment}, EndingText(plan_, e));
                   if (cause_.Trace(e, moment, why_, states)) orders_.Add(FailureTraced{e.process, e.attempt});
                 },
                 [&](const AgentEmpty& e) { OnMachineOver(e.host, true, "the agent exited unexpectedly"); },
                 [&](const AgentLost& e) { OnMachineOver(e.host, false, e.why); },
                 [&](const StopRequested& e) { OnStopRequested(e); },
                 [&](const DumpRequested&) {
                   if (CanDump()) dump_.Begin("asked", processes_.hosts().over(), orders_);
                 },
                 [&](const ProcessDumped& e) { dump_.Reported(e); },
                 [&](const HostDumped& e) {
                   if (dump_.Answered(e.host, e.dump)) EndDump(true);
                 },
                 [&](const DeadlinePassed& e) { OnDeadline(e.timer); },
                 [&](const PortTaken& e) { processes_.PortSeenTaken(e, why_, orders_); },
                 [&](const PlanRebound& e) { Apply(processes_.Rebound(e, why_, orders_)); },
                 [&](const HostReplaced& e) { Apply(processes_.Replaced(e, why_, orders_)); },
                 [&](const ClockCompared& e) { cause_.CompareClock(e); },
                 [&](const PtyOpened& e) {
                   const ProcessAttempt who{e.process, e.attempt};
                   if (processes_.IsLatest(who, "got a terminal", orders_)) limits.TerminalOpened(who, orders_);
                 },
                 [&](const PtyClosed& e) {
                   limits.TerminalClosed({e.process, e.attempt}, orders_);
                 },
                 [&](const CheckpointSeen& e) {
                   if (e.run.empty() && awaits_checkpoint()) checkpoint_.Finish(plan_, processes_.states(), orders_);
                 },
                 [&](const SignalSent& e) {
                   if (e.error == 0 && e.process < states.count()) states.Signalled(e.process, e.signal == SIGKILL);
                 },
                 // Only for the report: they affect no decision.
                 [](const FirstOutput&) {}, [](const EndEvidence&) {}},
      event);
}

void Supervisor::OnEnded(const ProcessFailure& end, const std::string& how) {
  failing_ = end;
  Apply(processes_.Ended(end.who, end.end, how, why_, orders_));
}

void Supervisor::OnStopRequested(const StopRequested& event) {
  if (event.dump && event.times <= 2 && CanDump()) {
    dump_.Begin("stop", processes_.hosts().over(), orders_);
    dump_.DelayStop(event);
    if (dump_.complete()) EndDump(true);
    return;
  }
  // A further request without a dump cancels the wait for the dump.
  dump_.DropStop();
  cause_.StopAsked(event.signal);
  why_ = !event.why.empty()  ? event.why
         : event.signal == 0 ? "asked to stop"
                             : fmt::format("ended by {}", SignalName(event.signal));
  Apply(event.times <= 1 ? JobInput::kStop : event.times == 2 ? JobInput::kStopAtOnce : JobInput::kInsist);
}

void Supervisor::OnMachineOver(std::uint32_t machine, bool attested, const std::string& how) {
  Apply(processes_.MachineOver(machine, attested, how, phase_, why_, orders_));
  if (dump_.Answered(machine, dump_.number())) EndDump(true);
}

void Supervisor::OnDeadline(std::uint64_t timer) {
  const ProcessStates& states = processes_.states();
  if (!orders_.Passed(timer)) {
    orders_.Add(StrayEvent{fmt::format("timer {} was not armed", timer)});
  } else if (timer >= kRenewalTimers) {
    processes_.RestartDelayOver(timer - kRenewalTimers, orders_);
  } else if (timer >= kReadyTimers) {
    const bool of_time = timer >= kProcessTimeTimers;
    const auto process = static_cast<ProcessId>(timer - (of_time ? kProcessTimeTimers : kReadyTimers));
    if (states.state(process) != ProcessState::kRunning || !AtWork()) return;
    const Role& role = plan_.roles[plan_.processes[process].role];
    PassLimit(
        {process, attempt(process), of_time ? "time" : "ready", of_time ? role.limits.time_ms : role.ready.timeout_ms});
  } else if (timer == kTimeTimer) {
    why_ = fmt::format("the time limit of {} passed", MsText(plan_.time_limit_ms));
    Apply(JobInput::kTimePassed);
  } else if (timer == kStartTimer) {
    why_ =
        fmt::format("not everything was ready within {}: {}", MsText(plan_.start_limit_ms), UnreadyText(plan_, states));
    Apply(JobInput::kTimePassed);
  } else if (timer == kSilenceTimer) {
    processes_.limits().AskForOutput(processes_.hosts().over(), orders_);
  } else if (timer == kDumpTimer) {
    EndDump(false);
  } else if (timer == kCheckpointTimer) {
    checkpoint_.Finish(plan_, processes_.states(), orders_);
  } else if (timer == kStopTimer) {
    if (const std::optional<ProcessId> stuck = states.FirstStopping()) {
      why_ = fmt::format("{} did not exit after SIGKILL", ProcessName(plan_, plan_.processes[*stuck]));
    }
    Apply(JobInput::kStopOverdue);
  } else if (timer == kFinishTimer) {
    why_ = "an agent did not confirm the end of the run";
    Apply(JobInput::kFinishOverdue);
  } else {
    linger_role_ = static_cast<std::uint32_t>(timer - kLingerTimers);
    Apply(JobInput::kLingerPassed);
  }
}

void Supervisor::PassLimit(LimitPassed passed, bool of_several) {
  failing_ = {
      {passed.process, passed.attempt}, {HowEnded::Kind::kLimit, 1, passed.limit, of_several}, orders_.now(), {}};
  why_ = fmt::format("{} {}", ProcessName(plan_, plan_.processes[passed.process]), EndingText(passed));
  orders_.Add(std::move(passed));
  Apply(processes_.Failed(failing_.who, failing_.end, why_, orders_));
}

void Supervisor::EndDump(bool complete) {
  const DumpRound::Waiting waiting = dump_.End(complete, orders_);
  if (waiting.stop) {
    StopRequested stop = *waiting.stop;
    stop.dump = false;
    OnStopRequested(stop);
  }
  if (!waiting.silent || !AtWork()) return;
  // A process that ended or was restarted meanwhile has shown activity.
  const auto& [scope, first, alone] = *waiting.silent;
  if (state(first) != ProcessState::kRunning || attempt(first) != waiting.silent_attempt) return;
  const std::optional<ProcessId> apart = dump_.HeldUpBy(scope, plan_, processes_.states());
  const ProcessId blamed = apart.value_or(first);
  PassLimit({blamed, attempt(blamed), scope.role ? "silent" : "silent_job", scope.limit_ms, apart.has_value()},
            !apart && !alone);
}

void Supervisor::Apply(std::optional<JobInput> input) {
  if (!input) return;
  const JobCell& cell = Decide(phase_, *input);
  if ((cell.effects & kBlame) != 0 && cause_.Blame(*input, why_, failing_) && *input == JobInput::kFailed) {
    orders_.Add(*first_failure());
  }
  if (cell.next != phase_) orders_.Add(PhaseChanged{phase_, cell.next});
  phase_ = cell.next;
  if (phase_ != Phase::kStarting) orders_.Disarm(kStartTimer);
  if (!AtWork()) processes_.Retire(orders_);
  if ((cell.effects & kStartAll) != 0) processes_.Begin(orders_);
  if ((cell.effects & kLinger) != 0) processes_.Linger(orders_);
  if ((cell.effects & kStopRole) != 0) processes_.Stop(linger_role_, false, orders_);
  if ((cell.effects & kStopAll) != 0) {
    // After a failure, other participants of a collective checkpoint are gone, or their state is doubtful.
    const bool intact = cause() == Cause::kStopped || cause() == Cause::kTimeLimit;
    const bool asked = intact && checkpoint_.Begin(plan_, processes_.states(), orders_);
    if (!asked) processes_.Stop(std::nullopt, false, orders_);
  }
  if ((cell.effects & kKillAll) != 0) processes_.Stop(std::nullopt, true, orders_);
  if ((cell.effects & (kKillAll | kFinishAll | kEnd)) != 0) checkpoint_.Cancel(orders_);
  if ((cell.effects & (kFinishAll | kEnd)) == 0) return;
  if (dump_.under_way()) dump_.End(false, orders_);  // actions that waited for it are cancelled
  orders_.DisarmAll();
  if ((cell.effects & kFinishAll) != 0) {
    orders_.Add(FinishOrdered{});
    orders_.ArmIn(kFinishTimer, kFinishMarginMs);
  } else {
    orders_.Add(EndRun{});
  }
}

std::vector<Action> Supervisor::Settle() {
  const ProcessStates& states = processes_.states();
  if (awaits_checkpoint() && states.stopping() == 0)
    checkpoint_.Finish(plan_, processes_.states(), orders_);  // all signalled processes have ended
  while (const std::optional<JobInput> input = DueFromCounts(phase_, states, processes_.hosts().machines_left())) {
    Apply(input);
  }
  if (AtWork() && states.stopping() == 0) orders_.Disarm(kStopTimer);
  return orders_.Take();
}

}  // namespace muster
