#include "run/supervisor.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/signal_name.h"
#include "run/ending_text.h"

namespace muster {
namespace {

// Timers by number; a serving role's linger timer is kLingerTimer + its index.
constexpr std::uint64_t kTimeTimer = 1;
constexpr std::uint64_t kStopTimer = 2;
constexpr std::uint64_t kFinishTimer = 3;
constexpr std::uint64_t kLingerTimer = 16;

constexpr MonotonicNs FromMs(std::uint64_t ms) { return ms * 1'000'000; }

constexpr std::int32_t kKill = SIGKILL;
constexpr std::int32_t kTerm = SIGTERM;

}  // namespace

Supervisor::Supervisor(const Plan& plan)
    : plan_(plan), processes_(plan.processes.size()), host_over_(plan.hosts.size(), false) {
  hosts_left_ = static_cast<std::uint32_t>(plan.hosts.size());
  left_ = unstarted_ = static_cast<std::uint32_t>(plan.processes.size());
  for (const Process& process : plan.processes) {
    if (plan.roles[process.role].ending == Ending::kAll) ++musts_;
  }
  musts_left_ = musts_;
}

std::vector<Action> Supervisor::Begin(MonotonicNs now) {
  Apply(JobInput::kBegin, now);
  Settle(now);
  return Take();
}

std::vector<Action> Supervisor::Abandon(std::string why, MonotonicNs now) {
  why_ = std::move(why);
  Apply(JobInput::kUnready, now);
  Settle(now);
  return Take();
}

std::vector<Action> Supervisor::Step(const Event& event, MonotonicNs now) {
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
          OnProcess({e.process, e.attempt}, ProcessInput::kStarted, "started", now);
        } else if constexpr (std::is_same_v<E, SpawnFailed>) {
          failing_to_spawn_ = true;
          OnProcess({e.process, e.attempt}, ProcessInput::kSpawnFailed, EndingText(e), now);
        } else if constexpr (std::is_same_v<E, ProcessExited>) {
          const bool well = !e.signalled && e.code == 0;
          failing_to_spawn_ = false;
          failing_code_ = e.signalled ? 128 + e.code : e.code;
          failing_by_code_ = !e.signalled;
          failing_at_ = e.at;
          OnProcess({e.process, e.attempt}, well ? ProcessInput::kExitedWell : ProcessInput::kExitedBadly,
                    EndingText(e), now);
          TraceFailure(e);
        } else if constexpr (std::is_same_v<E, AgentEmpty>) {
          OnHostOver(e.host, true, "the agent ended unasked", now);
        } else if constexpr (std::is_same_v<E, AgentLost>) {
          OnHostOver(e.host, false, e.why, now);
        } else if constexpr (std::is_same_v<E, StopRequested>) {
          if (cause_ == Cause::kNone) stop_signal_ = e.signal;
          why_ = e.signal == 0 ? "asked to stop" : fmt::format("ended by {}", SignalName(e.signal));
          Apply(e.times <= 1 ? JobInput::kStop : e.times == 2 ? JobInput::kStopAtOnce : JobInput::kInsist, now);
        } else if constexpr (std::is_same_v<E, DeadlinePassed>) {
          OnDeadline(e.timer, now);
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

void Supervisor::OnProcess(const ProcessAttempt& who, ProcessInput input, std::string why, MonotonicNs now) {
  if (who.process >= processes_.size() || processes_[who.process].attempt != who.attempt) {
    actions_.emplace_back(StrayEvent{fmt::format("process {} attempt {} {}", who.process, who.attempt, why)});
    return;
  }
  const Process& process = plan_.processes[who.process];
  why_ = fmt::format("{} {}", ProcessName(plan_, process), why);
  switch (ApplyTo(who.process, input)) {
    case ProcessEffect::kStray:
      actions_.emplace_back(StrayEvent{why_});
      break;
    case ProcessEffect::kWell:
      if (plan_.roles[process.role].ending == Ending::kAll) {
        --musts_left_;
      } else if (musts_left_ > 0) {
        actions_.emplace_back(EndedEarly{who.process, who.attempt});
      }
      break;
    case ProcessEffect::kFailed:
      failing_ = who;
      Apply(JobInput::kFailed, now);
      break;
    default:
      break;
  }
}

void Supervisor::TraceFailure(const ProcessExited& exit) {
  // What crashes or is killed from outside; SIGABRT, SIGPIPE and SIGTERM are ways to react to a lost peer.
  constexpr std::int32_t kFromOutside[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  if (cause_ != Cause::kFailed || !first_failure_by_code_ || !exit.signalled || exit.process >= processes_.size())
    return;
  if (std::find(std::begin(kFromOutside), std::end(kFromOutside), exit.code) == std::end(kFromOutside)) return;
  const Progress& progress = processes_[exit.process];
  // A stop signal that reached it may be why it crashed; it cannot be why it was killed.
  if (exit.code == SIGKILL ? progress.killed : progress.signalled) return;
  const Process& origin = plan_.processes[first_failure_->process];
  if (plan_.processes[exit.process].host == origin.host && exit.at > first_failure_at_ + FromMs(kTraceMs)) return;
  first_failure_by_code_ = false;
  first_failure_ = FirstFailure{exit.process, exit.attempt};
  passed_code_ = 128 + exit.code;
  cause_why_ = why_;
  actions_.emplace_back(FailureTraced{exit.process, exit.attempt});
}

void Supervisor::OnHostOver(std::uint32_t host, bool attested, const std::string& why, MonotonicNs now) {
  if (host >= host_over_.size() || host_over_[host]) return;  // lost after its end is no news
  host_over_[host] = true;
  --hosts_left_;
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (plan_.processes[process].host == host) ApplyTo(process, ProcessInput::kLost);
  }
  if (attested && phase_ == Phase::kFinishing) return;
  why_ = fmt::format("the agent of {} was lost: {}", plan_.hosts[host].label, why);
  Apply(JobInput::kLost, now);
}

void Supervisor::OnDeadline(std::uint64_t timer, MonotonicNs now) {
  if (armed_.erase(timer) == 0) {
    actions_.emplace_back(StrayEvent{fmt::format("timer {} was not armed", timer)});
  } else if (timer == kTimeTimer) {
    why_ = fmt::format("the time limit of {} ms passed", plan_.time_limit_ms);
    Apply(JobInput::kTimePassed, now);
  } else if (timer == kStopTimer) {
    const auto stuck = std::find_if(processes_.begin(), processes_.end(),
                                    [](const Progress& p) { return p.state == ProcessState::kStopping; });
    if (stuck != processes_.end()) {
      const auto at = static_cast<std::size_t>(stuck - processes_.begin());
      why_ = fmt::format("{} did not end after SIGKILL", ProcessName(plan_, plan_.processes[at]));
    }
    Apply(JobInput::kStopOverdue, now);
  } else if (timer == kFinishTimer) {
    why_ = "an agent did not answer the end of the run";
    Apply(JobInput::kFinishOverdue, now);
  } else {
    linger_role_ = static_cast<std::uint32_t>(timer - kLingerTimer);
    Apply(JobInput::kLingerPassed, now);
  }
}

ProcessEffect Supervisor::ApplyTo(ProcessId process, ProcessInput input) {
  Progress& progress = processes_[process];
  const ProcessState before = progress.state;
  const ProcessCell& cell = Decide(before, input);
  const auto unstarted = [](ProcessState s) { return s == ProcessState::kWaiting || s == ProcessState::kStarting; };
  progress.state = cell.next;
  if (unstarted(before) && !unstarted(cell.next)) --unstarted_;
  if (before != ProcessState::kEnded && cell.next == ProcessState::kEnded) --left_;
  return cell.effect;
}

void Supervisor::Settle(MonotonicNs now) {
  while (const std::optional<JobInput> input = DueFromCounts()) Apply(*input, now);
}

std::optional<JobInput> Supervisor::DueFromCounts() const {
  switch (phase_) {
    case Phase::kStarting:
    case Phase::kRunning:
      if (left_ == 0) return JobInput::kAllEnded;
      if (musts_ > 0 && musts_left_ == 0) return JobInput::kMustsEnded;
      if (phase_ == Phase::kStarting && unstarted_ == 0) return JobInput::kAllStarted;
      return std::nullopt;
    case Phase::kLingering:
    case Phase::kStopping:
      if (left_ == 0) return JobInput::kAllEnded;
      return std::nullopt;
    case Phase::kFinishing:
      if (hosts_left_ == 0) return JobInput::kAgentsEmpty;
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
  if ((cell.effects & kStartAll) != 0) StartAll(now);
  if ((cell.effects & kLinger) != 0) Linger(now);
  if ((cell.effects & kStopRole) != 0) Stop(now, linger_role_, false);
  if ((cell.effects & kStopAll) != 0) Stop(now, std::nullopt, false);
  if ((cell.effects & kKillAll) != 0) Stop(now, std::nullopt, true);
  if ((cell.effects & kFinishAll) != 0) {
    while (!armed_.empty()) Disarm(armed_.begin()->first);
    actions_.emplace_back(FinishOrdered{});
    Arm(kFinishTimer, now + FromMs(kFinishMarginMs));
  }
  if ((cell.effects & kEnd) != 0) {
    while (!armed_.empty()) Disarm(armed_.begin()->first);
    actions_.emplace_back(EndRun{});
  }
}

void Supervisor::Blame(JobInput input) {
  if (cause_ != Cause::kNone) return;
  switch (input) {
    case JobInput::kFailed:
      cause_ = failing_to_spawn_ ? Cause::kSpawn : Cause::kFailed;
      passed_code_ = failing_code_;
      first_failure_ = FirstFailure{failing_.process, failing_.attempt};
      first_failure_by_code_ = !failing_to_spawn_ && failing_by_code_;
      first_failure_at_ = failing_at_;
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
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (ApplyTo(process, ProcessInput::kStart) == ProcessEffect::kStart) {
      actions_.emplace_back(StartOrdered{process, processes_[process].attempt});
    }
  }
}

void Supervisor::Linger(MonotonicNs now) {
  Disarm(kTimeTimer);
  std::vector<bool> serving(plan_.roles.size(), false);
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (processes_[process].state != ProcessState::kEnded) serving[plan_.processes[process].role] = true;
  }
  for (std::size_t role = 0; role < serving.size(); ++role) {
    if (serving[role]) Arm(kLingerTimer + role, now + FromMs(plan_.roles[role].linger_ms));
  }
}

void Supervisor::Stop(MonotonicNs now, std::optional<std::uint32_t> only_role, bool at_once) {
  std::vector<std::vector<ProcessId>> by_role(plan_.roles.size());
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const std::uint32_t role = plan_.processes[process].role;
    if (only_role && role != *only_role) continue;
    const ProcessInput input = at_once ? ProcessInput::kKill : ProcessInput::kStop;
    if (ApplyTo(process, input) == ProcessEffect::kSignal) by_role[role].push_back(process);
  }
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
  if (const auto armed = armed_.find(kStopTimer); armed != armed_.end() && !at_once) {
    deadline = std::max(deadline, armed->second);
  }
  if (left_ > 0) Arm(kStopTimer, deadline);
}

void Supervisor::Arm(std::uint64_t timer, MonotonicNs deadline) {
  armed_[timer] = deadline;
  actions_.emplace_back(ArmTimer{timer, deadline});
}

void Supervisor::Disarm(std::uint64_t timer) {
  if (armed_.erase(timer) != 0) actions_.emplace_back(DisarmTimer{timer});
}

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
