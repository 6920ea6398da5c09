#include "run/supervise/supervisor.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/values/signal_name.h"
#include "run/journal/ending_text.h"

namespace muster {
namespace {

constexpr std::int32_t kKill = SIGKILL;
constexpr std::int32_t kTerm = SIGTERM;

}  // namespace

Supervisor::Supervisor(const Plan& plan, const std::vector<SiteHost>& spares)
    : plan_(plan),
      processes_(plan.processes.size()),
      slots_(plan, spares),
      machine_over_(slots_.machines(), false),
      well_(plan.roles.size(), 0),
      order_(plan),
      silence_(plan),
      budgets_(plan.roles.size()) {
  machines_left_ = slots_.machines();
  clocks_.resize(slots_.machines());
  if (clocks_.size() == 1) clocks_[0] = HostClock{};
  left_ = unready_ = static_cast<std::uint32_t>(plan.processes.size());
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) {
    const std::uint32_t count = order_.Last(role) - order_.First(role);
    if (plan.roles[role].ending == Ending::kAll) musts_ += count;
    if (plan.roles[role].ending == Ending::kAny) musts_ += std::min(count, 1U);
  }
  musts_left_ = musts_;
}

std::vector<Action> Supervisor::Begin(MonotonicNs now) {
  now_ = now;
  Apply(JobInput::kBegin, now);
  Settle(now);
  return Take();
}

std::vector<Action> Supervisor::Abandon(std::string why, MonotonicNs now) {
  now_ = now;
  why_ = std::move(why);
  Apply(JobInput::kUnready, now);
  Settle(now);
  return Take();
}

std::vector<Action> Supervisor::Step(const Event& event, MonotonicNs now) {
  now_ = now;
  On(event, now);
  Settle(now);
  return Take();
}

std::vector<Action> Supervisor::Take() { return std::exchange(actions_, {}); }

void Supervisor::On(const Event& event, MonotonicNs now) {
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, ProcessStarted>) {
          OnStarted({e.process, e.attempt}, now);
        } else if constexpr (std::is_same_v<E, ProcessReady>) {
          OnReady(e);
        } else if constexpr (std::is_same_v<E, OutputSeen>) {
          OnOutput(e, now);
        } else if constexpr (std::is_same_v<E, SpawnFailed>) {
          failing_at_ = e.at;
          failing_moment_.reset();
          OnEnd({e.process, e.attempt}, {HowEnded::Kind::kNotStarted, e.error}, EndingText(e), now);
        } else if constexpr (std::is_same_v<E, ProcessExited>) {
          failing_at_ = e.at;
          failing_moment_ = MomentOf(e);
          const auto kind = e.signalled ? HowEnded::Kind::kSignalled : HowEnded::Kind::kExited;
          OnEnd({e.process, e.attempt}, {kind, e.code}, EndingText(e), now);
          TraceFailure(e);
        } else if constexpr (std::is_same_v<E, AgentEmpty>) {
          OnHostOver(e.host, true, "the agent exited unexpectedly", now);
        } else if constexpr (std::is_same_v<E, AgentLost>) {
          OnHostOver(e.host, false, e.why, now);
        } else if constexpr (std::is_same_v<E, StopRequested>) {
          OnStopRequested(e, now);
        } else if constexpr (std::is_same_v<E, DumpRequested>) {
          TakeDump("asked", now);
        } else if constexpr (std::is_same_v<E, HostDumped>) {
          OnHostDumped(e.host, e.dump, now);
        } else if constexpr (std::is_same_v<E, DeadlinePassed>) {
          OnDeadline(e.timer, now);
        } else if constexpr (std::is_same_v<E, PortTaken>) {
          OnTaken(e, now);
        } else if constexpr (std::is_same_v<E, PlanRebound>) {
          OnRebound(e, now);
        } else if constexpr (std::is_same_v<E, HostReplaced>) {
          OnReplaced(e, now);
        } else if constexpr (std::is_same_v<E, ClockCompared>) {
          if (e.host < clocks_.size()) clocks_[e.host] = HostClock{e.offset_ns, e.error_ns};
        } else if constexpr (std::is_same_v<E, PtyOpened>) {
          OnPtyOpened({e.process, e.attempt}, now);
        } else if constexpr (std::is_same_v<E, PtyClosed>) {
          OnPtyGone({e.process, e.attempt}, now);
        } else if constexpr (std::is_same_v<E, CheckpointSeen>) {
          if (e.run.empty() && awaits_checkpoint()) EndCheckpoint(now);
        } else if constexpr (std::is_same_v<E, FirstOutput> || std::is_same_v<E, EndEvidence> ||
                             std::is_same_v<E, ProcessDumped>) {
          // For the report: they decide nothing.
        } else {
          static_assert(std::is_same_v<E, SignalSent>);
          if (e.error == 0 && e.process < processes_.size()) {
            processes_[e.process].signalled = true;
            processes_[e.process].killed = processes_[e.process].killed || e.signal == kKill;
          }
        }
      },
      event);
}

bool Supervisor::IsCurrent(const ProcessAttempt& who, std::string_view what) {
  if (who.process < processes_.size() && processes_[who.process].attempt == who.attempt) return true;
  actions_.emplace_back(StrayEvent{fmt::format("process {} attempt {} {}", who.process, who.attempt, what)});
  return false;
}

void Supervisor::OnStarted(const ProcessAttempt& who, MonotonicNs now) {
  if (!IsCurrent(who, "started")) return;
  const Role& role = RoleOf(who.process);
  if (ApplyTo(who.process, ProcessInput::kStarted) == ProcessEffect::kStray) {
    actions_.emplace_back(StrayEvent{fmt::format("{} started", NameOf(who.process))});
  } else if (processes_[who.process].state == ProcessState::kRunning) {
    silence_.Started(who.process, now);
    if (role.limits.time_ms > 0) Arm(kProcessTimeTimers + who.process, now + FromMs(role.limits.time_ms));
    if (role.ready.kind == Readiness::Kind::kStarted) {
      BecameReady(who.process);
    } else if (role.ready.timeout_ms > 0) {
      Arm(kReadyTimers + who.process, now + FromMs(role.ready.timeout_ms));
    }
  }
}

void Supervisor::OnEnd(const ProcessAttempt& who, HowEnded end, const std::string& how, MonotonicNs now) {
  if (!IsCurrent(who, how)) return;
  why_ = fmt::format("{} {}", NameOf(who.process), how);
  ProcessInput input = end.Well() ? ProcessInput::kExitedWell : ProcessInput::kExitedBadly;
  if (end.kind == HowEnded::Kind::kNotStarted) input = ProcessInput::kSpawnFailed;
  Disarm(kReadyTimers + who.process);
  Disarm(kProcessTimeTimers + who.process);
  OnPtyGone(who, now);
  silence_.Ended(who.process, now);
  switch (ApplyTo(who.process, input)) {
    case ProcessEffect::kStray:
      actions_.emplace_back(StrayEvent{why_});
      break;
    case ProcessEffect::kWell:
      OnWell(who, end, now);
      break;
    case ProcessEffect::kFailed:
      OnFailure(who, end, now);
      break;
    case ProcessEffect::kOver:
      if (processes_[who.process].renewal) OnRenewedEnded(who.process);
      break;
    default:
      break;
  }
}

void Supervisor::OnWell(const ProcessAttempt& who, const HowEnded& end, MonotonicNs now) {
  const Role& role = RoleOf(who.process);
  const std::optional<std::uint32_t> waiting = order_.AwaitedBy(who.process);
  if (role.ready.kind != Readiness::Kind::kDone && waiting && AtWork()) {
    why_ += fmt::format(" before it was ready, and role {} waits for it", plan_.roles[*waiting].name);
    return OnFailure(who, end, now);
  }
  if (Restarts(role.restart, end) && Restart(who, now)) return;
  MarkWell(who.process, true);
  if (role.ending == Ending::kNever && musts_left_ > 0) actions_.emplace_back(EndedEarly{who.process, who.attempt});
  BecameReady(who.process);
}

void Supervisor::OnFailure(const ProcessAttempt& who, const HowEnded& end, MonotonicNs now) {
  failing_ = who;
  failing_end_ = end;
  if (RestartElsewhere(who, now)) return;
  if (Restarts(RoleOf(who.process).restart, end) && Restart(who, now)) return;
  Apply(JobInput::kFailed, now);
}

void Supervisor::MarkWell(ProcessId process, bool well) {
  if (std::exchange(processes_[process].well, well) == well) return;
  const std::uint32_t role = plan_.processes[process].role;
  const std::uint32_t before = well_[role];
  well_[role] = well ? before + 1 : before - 1;
  const Ending ending = plan_.roles[role].ending;
  // Of a kAny role only the first counts.
  if (ending == Ending::kAll || (ending == Ending::kAny && (before == 0 || well_[role] == 0))) {
    musts_left_ = well ? musts_left_ - 1 : musts_left_ + 1;
  }
}

void Supervisor::OnReady(const ProcessReady& event) {
  if (!IsCurrent({event.process, event.attempt}, "became ready")) return;
  // It may have been told to stop meanwhile.
  if (processes_[event.process].state == ProcessState::kRunning) BecameReady(event.process);
}

void Supervisor::BecameReady(ProcessId process) {
  if (order_.IsReady(process)) return;
  if (processes_[process].state != ProcessState::kEnded) --unready_;
  Disarm(kReadyTimers + process);
  const std::vector<std::uint32_t> freed = order_.SetReady(process);
  if (!AtWork()) return;
  for (const std::uint32_t role : freed) StartRole(role);
}

Moment Supervisor::MomentOf(const ProcessExited& exit) const {
  if (exit.process >= processes_.size()) return {};
  return {slots_.machine(plan_.processes[exit.process].host), exit.at, EndLatenessNs(exit.max_rss_kib)};
}

void Supervisor::TraceFailure(const ProcessExited& exit) {
  if (cause_ != Cause::kFailed || exit.process >= processes_.size()) return;
  const ProcessAttempt who{exit.process, exit.attempt};
  if (first_failure_->process == who.process || processes_[who.process].attempt != who.attempt) return;
  const bool is_cause = MayBeCause(exit);
  if (!is_cause && !CameFirst(exit)) return;
  first_failure_by_code_ = !is_cause && !exit.signalled;
  first_failure_ = FirstFailure{exit.process, exit.attempt};
  first_failure_at_ = exit.at;
  first_failure_moment_ = MomentOf(exit);
  passed_code_ = exit.signalled ? 128 + exit.code : exit.code;
  cause_why_ = why_;
  actions_.emplace_back(FailureTraced{exit.process, exit.attempt});
}

bool Supervisor::MayBeCause(const ProcessExited& exit) const {
  // What crashes or is killed from outside; SIGABRT, SIGPIPE and SIGTERM are ways to react to a lost peer.
  constexpr std::int32_t kFromOutside[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  if (!first_failure_by_code_ || !exit.signalled) return false;
  if (std::find(std::begin(kFromOutside), std::end(kFromOutside), exit.code) == std::end(kFromOutside)) return false;
  const Progress& progress = processes_[exit.process];
  // A stop signal that reached it may be why it crashed; it cannot be why it was killed.
  if (exit.code == SIGKILL ? progress.killed : progress.signalled) return false;
  const Process& origin = plan_.processes[first_failure_->process];
  return plan_.processes[exit.process].host != origin.host || exit.at <= first_failure_at_ + FromMs(kTraceMs);
}

bool Supervisor::CameFirst(const ProcessExited& exit) const {
  if (!first_failure_moment_ || (!exit.signalled && exit.code == 0)) return false;
  if (processes_[exit.process].signalled) return false;
  const Moment moment = MomentOf(exit);
  // On one host the agent has told of what it saw in order.
  return moment.host != first_failure_moment_->host &&
         OrderOf(moment, *first_failure_moment_, clocks_) == Order::kBefore;
}

ProcessEffect Supervisor::ApplyTo(ProcessId process, ProcessInput input) {
  Progress& progress = processes_[process];
  const ProcessState before = progress.state;
  const ProcessCell& cell = Decide(before, input);
  const auto count = [&](ProcessState state, std::uint32_t& counter, bool counts) {
    if (before != state && cell.next == state) counter = counts ? counter + 1 : counter - 1;
    if (before == state && cell.next != state) counter = counts ? counter - 1 : counter + 1;
  };
  progress.state = cell.next;
  count(ProcessState::kStopping, stopping_, true);
  count(ProcessState::kEnded, left_, false);
  if (!order_.IsReady(process)) count(ProcessState::kEnded, unready_, false);
  return cell.effect;
}

void Supervisor::Settle(MonotonicNs now) {
  if (awaits_checkpoint() && stopping_ == 0) EndCheckpoint(now);  // all who were asked have ended
  while (const std::optional<JobInput> input = DueFromCounts()) Apply(*input, now);
  if (AtWork() && stopping_ == 0) Disarm(kStopTimer);
}

std::optional<JobInput> Supervisor::DueFromCounts() const {
  switch (phase_) {
    case Phase::kStarting:
    case Phase::kRunning:
      if (left_ == 0) return JobInput::kAllEnded;
      if (musts_ > 0 && musts_left_ == 0) return JobInput::kMustsEnded;
      if (phase_ == Phase::kStarting && unready_ == 0) return JobInput::kAllReady;
      return std::nullopt;
    case Phase::kLingering:
    case Phase::kStopping:
      if (left_ == 0) return JobInput::kAllEnded;
      return std::nullopt;
    case Phase::kFinishing:
      if (machines_left_ == 0) return JobInput::kAgentsEmpty;
      return std::nullopt;
    case Phase::kPreparing:
    case Phase::kDone:
      return std::nullopt;
  }
  return std::nullopt;
}

void Supervisor::Apply(JobInput input, MonotonicNs now) {
  const JobCell& cell = Decide(phase_, input);
  if ((cell.effects & kBlame) != 0) Blame(input);
  if (cell.next != phase_) actions_.emplace_back(PhaseChanged{phase_, cell.next});
  phase_ = cell.next;
  if (phase_ != Phase::kStarting) Disarm(kStartTimer);
  if (!AtWork()) {
    Disarm(kSilenceTimer);
    ForgetRenewals();
  }
  if ((cell.effects & kStartAll) != 0) StartAll(now);
  if ((cell.effects & kLinger) != 0) Linger(now);
  if ((cell.effects & kStopRole) != 0) Stop(now, linger_role_, false);
  if ((cell.effects & kStopAll) != 0 && !AskCheckpoint(now)) Stop(now, std::nullopt, false);
  if ((cell.effects & kKillAll) != 0) Stop(now, std::nullopt, true);
  if ((cell.effects & (kKillAll | kFinishAll | kEnd)) != 0) CutCheckpoint();
  if ((cell.effects & kFinishAll) != 0) {
    CutDump();
    DisarmAll();
    actions_.emplace_back(FinishOrdered{});
    Arm(kFinishTimer, now + FromMs(kFinishMarginMs));
  }
  if ((cell.effects & kEnd) != 0) {
    CutDump();
    DisarmAll();
    actions_.emplace_back(EndRun{});
  }
}

void Supervisor::Blame(JobInput input) {
  if (cause_ != Cause::kNone) return;
  switch (input) {
    case JobInput::kFailed:
      cause_ = failing_end_.kind == HowEnded::Kind::kNotStarted ? Cause::kSpawn : Cause::kFailed;
      passed_code_ = failing_end_.kind == HowEnded::Kind::kSignalled ? 128 + failing_end_.code : failing_end_.code;
      if (passed_code_ == 0) passed_code_ = 1;  // exit code 0 of one that others waited for
      first_failure_ = FirstFailure{failing_.process, failing_.attempt};
      first_failure_by_code_ = failing_end_.kind == HowEnded::Kind::kExited;
      first_failure_at_ = failing_at_;
      first_failure_moment_ = failing_moment_;
      actions_.emplace_back(*first_failure_);
      break;
    case JobInput::kUnready:
      cause_ = Cause::kUnready;
      break;
    case JobInput::kLost:
      cause_ = Cause::kLost;
      break;
    case JobInput::kTimePassed:
      cause_ = Cause::kTimeLimit;
      break;
    case JobInput::kStopOverdue:
    case JobInput::kFinishOverdue:
      cause_ = Cause::kOverdue;
      break;
    default:
      cause_ = Cause::kStopped;
      break;
  }
  cause_why_ = why_;
}

void Supervisor::StartAll(MonotonicNs now) {
  if (plan_.time_limit_ms > 0) Arm(kTimeTimer, now + FromMs(plan_.time_limit_ms));
  if (plan_.start_limit_ms > 0) Arm(kStartTimer, now + FromMs(plan_.start_limit_ms));
  if (!silence_.empty()) Arm(kSilenceTimer, now + FromMs(silence_.PeriodMs()));
  for (std::uint32_t role = 0; role < order_.roles(); ++role) {
    if (order_.MayStart(role)) StartRole(role);
  }
}

void Supervisor::StartRole(std::uint32_t role) {
  if (!replacing_.empty()) return;  // StartDue comes back to it
  for (ProcessId process = order_.First(role); process < order_.Last(role); ++process) {
    if (ApplyTo(process, ProcessInput::kStart) == ProcessEffect::kStart) {
      actions_.emplace_back(StartOrdered{process, processes_[process].attempt});
    }
  }
}

void Supervisor::Linger(MonotonicNs now) {
  Disarm(kTimeTimer);
  std::vector<bool> serving(plan_.roles.size(), false);
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const ProcessState state = processes_[process].state;
    if (state == ProcessState::kWaiting || state == ProcessState::kResting) {
      ApplyTo(process, ProcessInput::kStop);  // nobody needs it any more
    } else if (state != ProcessState::kEnded) {
      serving[plan_.processes[process].role] = true;
    }
  }
  for (std::size_t role = 0; role < serving.size(); ++role) {
    if (serving[role]) Arm(kLingerTimers + role, now + FromMs(plan_.roles[role].linger_ms));
  }
}

void Supervisor::Stop(MonotonicNs now, std::optional<std::uint32_t> only_role, bool at_once) {
  std::vector<ProcessId> signalled;
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (only_role && plan_.processes[process].role != *only_role) continue;
    const ProcessInput input = at_once ? ProcessInput::kKill : ProcessInput::kStop;
    if (ApplyTo(process, input) == ProcessEffect::kSignal) signalled.push_back(process);
  }
  OrderStops(signalled, at_once, now);
}

void Supervisor::OrderStops(const std::vector<ProcessId>& processes, bool at_once, MonotonicNs now) {
  std::vector<std::vector<ProcessId>> by_role(plan_.roles.size());
  for (const ProcessId process : processes) by_role[plan_.processes[process].role].push_back(process);
  std::uint32_t longest_ms = 0;
  for (std::size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role].empty()) continue;
    const StopPolicy& policy = plan_.roles[role].stop;
    StopOrdered order{std::move(by_role[role]), kKill, 0};
    if (!at_once) {
      order.signal = SignalNumber(policy.signal).value_or(kTerm);
      order.grace_ms = policy.grace_ms;
    }
    longest_ms = std::max(longest_ms, order.grace_ms);
    actions_.emplace_back(std::move(order));
  }
  MonotonicNs deadline = now + FromMs(std::uint64_t{longest_ms} + kStopMarginMs);
  if (const auto armed = timers_.Deadline(kStopTimer); armed && !at_once) deadline = std::max(deadline, *armed);
  if (left_ > 0) Arm(kStopTimer, deadline);
}

void Supervisor::Arm(std::uint64_t timer, MonotonicNs deadline) {
  if (at_terminal_ && Pauses(timer)) {
    held_[timer] = deadline - now_;
    return;
  }
  timers_.Arm(timer, deadline);
  actions_.emplace_back(ArmTimer{timer, deadline});
}

void Supervisor::Disarm(std::uint64_t timer) {
  held_.erase(timer);
  if (timers_.Disarm(timer)) actions_.emplace_back(DisarmTimer{timer});
}

void Supervisor::DisarmAll() {
  held_.clear();
  while (!timers_.empty()) Disarm(timers_.armed().begin()->first);
}

bool Supervisor::AtWork() const { return phase_ == Phase::kStarting || phase_ == Phase::kRunning; }

const Role& Supervisor::RoleOf(ProcessId process) const { return plan_.roles[plan_.processes[process].role]; }

std::string Supervisor::NameOf(ProcessId process) const { return ProcessName(plan_, plan_.processes[process]); }

RunEnded Supervisor::Ended(bool pass_exit_code) const {
  RunEnded ended{cause_, 0, cause_why_};
  switch (cause_) {
    case Cause::kNone:
      break;
    case Cause::kFailed:
      ended.exit_code = pass_exit_code ? passed_code_ : 1;
      break;
    case Cause::kTimeLimit:
      ended.exit_code = 1;
      break;
    case Cause::kStopped:
      ended.exit_code = 128 + (stop_signal_ == 0 ? kTerm : stop_signal_);
      break;
    case Cause::kSpawn:
    case Cause::kUnready:
    case Cause::kLost:
    case Cause::kOverdue:
      ended.exit_code = 3;
      break;
  }
  return ended;
}

}  // namespace muster
