#include "run/simulate/job_simulation.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/overloaded.h"
#include "run/supervise/supervisor.h"

namespace muster {
namespace {

constexpr double kNsInSecond = 1e9;
constexpr double kNever = std::numeric_limits<double>::infinity();

MonotonicNs InNs(double seconds) { return static_cast<MonotonicNs>(seconds * kNsInSecond); }

// Not those of the library, whose results differ between implementations.
double Unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
double Weibull(std::mt19937_64& random, double mean, double shape) {
  return mean / std::tgamma(1 + 1 / shape) * std::pow(-std::log(1 - Unit(random)), 1 / shape);
}

// One run: a supervisor, and agents that answer at once.
class SimulatedRun final : private FailureSource {
 public:
  SimulatedRun(const Plan& plan, const std::vector<SiteHost>& spares, const std::vector<VerdictRule>& rules,
               FailureSource* source = nullptr, std::vector<Action>* seen = nullptr)
      : plan_(plan), supervisor_(plan, spares), alive_(plan.processes.size(), false), seen_(seen) {
    lost_.assign(supervisor_.slots().machines(), false);
    held_ = lost_;
    supervisor_.JudgeBy(rules, source == nullptr ? *this : *source);
  }

  void Begin(double now) {
    now_ = now;
    Do(supervisor_.Begin(InNs(now)));
    Answer();
  }
  // Handles what is due until then.
  void Advance(double until) {
    while (!over_) {
      const std::optional<MonotonicNs> earliest = timers_.Earliest();
      if (!earliest || *earliest > InNs(until)) break;
      now_ = std::max(now_, static_cast<double>(*earliest) / kNsInSecond);
      events_.emplace_back(DeadlinePassed{*timers_.TakeDue(*earliest)});
      Answer();
    }
    now_ = std::max(now_, until);
  }
  // Whether processes of the job are on the machine.
  bool Uses(std::uint32_t machine) const { return supervisor_.slots().host(machine).has_value(); }
  // What a failure now would look like.
  void Looks(FailureTraits traits) { traits_ = std::move(traits); }
  void Fail(std::uint32_t machine, bool lost) {
    const std::optional<std::uint32_t> host = supervisor_.slots().host(machine);
    if (lost) {
      lost_[machine] = true;
      events_.emplace_back(AgentLost{machine, "lost", 0});
    }
    for (ProcessId process = 0; host && process < alive_.size(); ++process) {
      if (plan_.processes[process].host != *host || !alive_[process]) continue;
      End(process);
      if (lost) continue;
      Exited(process, true, SIGKILL);
      break;
    }
    Answer();
  }

  void Exit(ProcessId process, bool signalled, std::int32_t code) {
    if (!alive_[process]) return;
    End(process);
    Exited(process, signalled, code);
    Answer();
  }
  void Hold(std::uint32_t machine) { held_[machine] = true; }
  void CannotStart(ProcessId process, std::uint32_t attempt) { not_started_.insert({process, attempt}); }
  void FallSilent(ProcessId process, bool all) {
    silent_ = process;
    all_silent_ = all;
  }
  void AskToStop() {
    events_.emplace_back(StopRequested{});
    Answer();
  }
  RunEnded Ended() const { return supervisor_.Ended(false); }

  bool over() const { return over_; }
  // When the last process was started of a job whose processes all run.
  std::optional<double> up_since() const { return up_since_; }
  std::uint32_t replaced() const { return replaced_; }
  std::uint32_t stops() const { return stops_; }

 private:
  FailureTraits Look(const AskedFailure&) override { return traits_; }

  void Answer() {
    while (!events_.empty() && !over_) {
      const Event event = std::move(events_.front());
      events_.pop_front();
      Do(supervisor_.Step(event, InNs(now_)));
    }
  }
  void Do(const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (seen_ != nullptr) seen_->push_back(action);
      std::visit(Overloaded{
                     [&](const StartOrdered& a) { Start(a); },
                     [&](const StopOrdered& a) {
                       for (const ProcessId process : a.processes) {
                         if (!alive_[process]) continue;
                         if (held_[supervisor_.slots().machine(plan_.processes[process].host)]) continue;
                         End(process);
                         Exited(process, true, SIGTERM);
                       }
                     },
                     [&](const ReplaceOrdered& a) {
                       ++replaced_;
                       events_.emplace_back(HostReplaced{a.host, a.by, {}, {}, {}, {}, {}, {}});
                     },
                     [&](const FinishOrdered&) {
                       for (std::uint32_t machine = 0; machine < lost_.size(); ++machine) {
                         if (!lost_[machine]) events_.emplace_back(AgentEmpty{machine, 0, 0, 0, {}, 0, 0});
                       }
                     },
                     [&](const ArmTimer& a) { timers_.Arm(a.timer, a.deadline); },
                     [&](const DisarmTimer& a) { timers_.Disarm(a.timer); },
                     [&](const FailureJudged& a) {
                       if (a.verdict == RestartVerdict::kStop) ++stops_;
                     },
                     [&](const EndRun&) { over_ = true; }, [&](const RequestOutput&) { Output(); },
                     [&](const DumpOrdered& a) {
                       for (std::uint32_t machine = 0; machine < lost_.size(); ++machine) {
                         if (!lost_[machine]) events_.emplace_back(HostDumped{machine, a.dump, {}});
                       }
                     },
                     [](const auto&) {},  // for the journal
                 },
                 action);
    }
  }
  // Each process has written more since the last look, unless the job falls silent: first one process, then all.
  void Output() {
    ++look_;
    for (std::uint32_t machine = 0; machine < lost_.size(); ++machine) {
      OutputSeen seen;
      seen.host = machine;
      for (ProcessId process = 0; process < alive_.size(); ++process) {
        const std::uint32_t host = plan_.processes[process].host;
        if (!alive_[process] || supervisor_.slots().machine(host) != machine) continue;
        seen.processes.push_back(process);
        if (!silent_) silent_since_ = look_;
        const bool now = silent_ && (process == *silent_ || (all_silent_ && process > *silent_));
        seen.bytes.push_back(!silent_ ? look_ : now ? silent_since_ : silent_since_ + 1);
      }
      if (!lost_[machine]) events_.emplace_back(std::move(seen));
    }
  }
  void Start(const StartOrdered& order) {
    if (silent_ == order.process) silent_.reset();
    const Readiness::Kind ready = plan_.roles[plan_.processes[order.process].role].ready.kind;
    if (not_started_.contains({order.process, order.attempt})) {
      SpawnFailed failed;
      failed.process = order.process;
      failed.attempt = order.attempt;
      events_.emplace_back(std::move(failed));
      return;
    }
    events_.emplace_back(ProcessStarted{order.process, order.attempt, 1, 1, InNs(now_)});
    if (ready == Readiness::Kind::kDone) return Exited(order.process, false, 0);
    if (ready != Readiness::Kind::kStarted) {
      events_.emplace_back(ProcessReady{order.process, order.attempt, InNs(now_)});
    }
    alive_[order.process] = true;
    if (++up_ == Serving()) up_since_ = now_;
  }
  void End(ProcessId process) {
    alive_[process] = false;
    --up_;
    up_since_.reset();
  }
  void Exited(ProcessId process, bool signalled, std::int32_t code) {
    ProcessExited exited;
    exited.process = process;
    exited.attempt = supervisor_.attempt(process);
    exited.signalled = signalled;
    exited.code = code;
    exited.at = InNs(now_);
    events_.emplace_back(exited);
  }
  // Processes that run all the time.
  std::size_t Serving() {
    if (!serving_) {
      serving_ = static_cast<std::size_t>(std::count_if(
          plan_.processes.begin(), plan_.processes.end(),
          [&](const Process& process) { return plan_.roles[process.role].ready.kind != Readiness::Kind::kDone; }));
    }
    return *serving_;
  }

  const Plan& plan_;
  Supervisor supervisor_;
  std::vector<bool> alive_;  // by process
  std::vector<bool> lost_;   // by machine
  std::vector<bool> held_;   // likewise
  std::vector<Action>* const seen_;
  std::uint64_t look_ = 0;          // at output
  std::uint64_t silent_since_ = 0;  // the last look before
  std::optional<ProcessId> silent_;
  std::set<std::pair<ProcessId, std::uint32_t>> not_started_;
  bool all_silent_ = false;  // those after it, at the same time
  TimerQueue timers_;
  std::deque<Event> events_;
  FailureTraits traits_;
  double now_ = 0;
  std::size_t up_ = 0;
  std::optional<std::size_t> serving_;
  std::optional<double> up_since_;
  std::uint32_t replaced_ = 0;
  std::uint32_t stops_ = 0;
  bool over_ = false;
};

class Life {
 public:
  Life(const Plan& plan, const SimulatedTerms& terms, const std::vector<VerdictRule>& rules)
      : plan_(plan), terms_(terms), rules_(rules), up_at_(plan.hosts.size() + terms.spares, 0) {}

  SimulatedLife Of(std::span<const SimulatedFailure> failures) {
    auto next = failures.begin();
    while (now_ < terms_.horizon_s) {
      const double failure = next == failures.end() ? kNever : next->at;
      const double until = std::min({failure, terms_.horizon_s, run_ ? kNever : StartsAt()});
      if (run_) {
        run_->Advance(until);
      } else {
        life_.Of(SimulatedRow::kWaiting) += until - now_;
      }
      now_ = until;
      if (now_ == terms_.horizon_s) break;
      if (now_ < failure) {
        BeginRun();
      } else {
        Handle(*next++);
      }
    }
    if (!run_) return life_;
    life_.replaced += run_->replaced();
    life_.stops += run_->stops();
    Close(WorkUntilNow(), SimulatedRow::kKept);
    return life_;
  }

 private:
  // When the next run begins, if nothing fails before.
  double StartsAt() {
    std::vector<double> up = up_at_;
    const auto last = up.begin() + static_cast<std::ptrdiff_t>(plan_.hosts.size()) - 1;
    std::nth_element(up.begin(), last, up.end());
    return std::max({*last, free_at_, now_});
  }

  void BeginRun() {
    machines_.clear();
    std::vector<SiteHost> spares;
    const std::size_t wanted = plan_.hosts.size() + terms_.spares;
    for (std::uint32_t machine = 0; machine < up_at_.size() && machines_.size() < wanted; ++machine) {
      if (up_at_[machine] > now_) continue;
      machines_.push_back(machine);
      if (machines_.size() > plan_.hosts.size())
        spares.push_back({fmt::format("m{}", machine), {}, plan_.hosts.front().devices});
    }
    run_ = std::make_unique<SimulatedRun>(plan_, spares, rules_);
    ++life_.runs;
    since_ = now_;
    run_->Begin(now_);
  }

  void Handle(const SimulatedFailure& failure) {
    const bool lost = failure.down > 0;
    const bool was_down = up_at_[failure.machine] > now_;
    up_at_[failure.machine] = std::max(up_at_[failure.machine], failure.at + failure.down);
    if (!run_ || (was_down && lost)) return;
    const auto found = std::find(machines_.begin(), machines_.end(), failure.machine);
    if (found == machines_.end()) return;
    const auto machine = static_cast<std::uint32_t>(found - machines_.begin());
    const bool uses = run_->Uses(machine);
    const auto was_up = run_->up_since();
    const Work work = WorkUntilNow();
    FailureTraits traits;
    traits.failure_class = lost ? "host" : "killed";
    traits.fingerprint = traits.what = traits.failure_class;
    traits.ready = work.worked;
    if (work.worked) traits.step = kept_ + work.whole + work.rest;
    if (kept_ + work.whole > 0) traits.checkpoint = fmt::format("{}", kept_ + work.whole);
    run_->Looks(std::move(traits));
    run_->Fail(machine, lost);
    run_->Advance(now_);
    // A host without processes may fail while the job goes on.
    if (uses && (run_->over() || !was_up || run_->up_since() != was_up)) {
      ++life_.failures;
      Close(work, SimulatedRow::kLost);
    }
    if (!run_->over()) return;
    life_.replaced += run_->replaced();
    life_.stops += run_->stops();
    run_.reset();
    free_at_ = now_ + terms_.queue_s;
  }

  // Of the time since the last failure or the begin of the run.
  struct Work {
    double start = 0;  // until the first step
    double whole = 0;  // in checkpoints
    double saves = 0;
    double rest = 0;  // since the last checkpoint
    bool worked = false;
  };
  Work WorkUntilNow() const {
    Work work;
    const double works_from = run_->up_since() ? *run_->up_since() + terms_.start_s : kNever;
    work.start = std::min(works_from, now_) - since_;
    work.worked = now_ > works_from;
    if (!work.worked) return work;
    const double cycle = terms_.interval_s + terms_.save_s;
    const double cycles = std::floor((now_ - works_from) / cycle);
    const double rest = now_ - works_from - cycles * cycle;
    work.rest = std::min(rest, terms_.interval_s);
    work.whole = cycles * terms_.interval_s;
    work.saves = cycles * terms_.save_s + (rest - work.rest);
    return work;
  }

  // Accounts for that time, which a failure or the horizon ends.
  void Close(const Work& work, SimulatedRow row_of_rest) {
    since_ = now_;
    kept_ += work.whole;
    life_.Of(SimulatedRow::kStart) += work.start;
    life_.Of(SimulatedRow::kKept) += work.whole;
    life_.Of(SimulatedRow::kCheckpoint) += work.saves;
    life_.Of(row_of_rest) += work.rest;
  }

  const Plan& plan_;
  const SimulatedTerms& terms_;
  const std::vector<VerdictRule>& rules_;
  std::vector<double> up_at_;            // by machine: when it is up again
  std::vector<std::uint32_t> machines_;  // of the run, by the number that they have in it
  std::unique_ptr<SimulatedRun> run_;
  SimulatedLife life_;
  double now_ = 0;
  double since_ = 0;    // the last failure, or the begin of the run
  double free_at_ = 0;  // when another run may begin
  double kept_ = 0;     // work in the last checkpoint
};

}  // namespace

std::vector<SimulatedFailure> DrawFailures(const FailureRate& rate, std::uint32_t machines, double horizon_s,
                                           std::uint64_t seed) {
  std::vector<SimulatedFailure> failures;
  std::mt19937_64 random(seed);
  for (std::uint32_t machine = 0; machine < machines; ++machine) {
    for (double at = Weibull(random, rate.mean_s, rate.shape); at < horizon_s;) {
      const double down = rate.down_s > 0 ? Weibull(random, rate.down_s, 1) : 0;
      failures.push_back({at, machine, down});
      at += down + Weibull(random, rate.mean_s, rate.shape);
    }
  }
  std::sort(failures.begin(), failures.end(),
            [](const SimulatedFailure& a, const SimulatedFailure& b) { return a.at < b.at; });
  return failures;
}

SimulatedLife SimulateLife(const Plan& plan, std::span<const SimulatedFailure> failures, const SimulatedTerms& terms,
                           const std::vector<VerdictRule>& rules) {
  Plan simulated = plan;
  simulated.time_limit_ms = simulated.start_limit_ms = simulated.silent_limit_ms = 0;
  for (Role& role : simulated.roles) {
    role.limits.time_ms = role.limits.silent_ms = 0;
    role.ready.timeout_ms = 0;
  }
  return Life(simulated, terms, rules).Of(failures);
}

SimulatedDecisions DecisionsOn(const Plan& plan, const std::vector<SiteHost>& spares,
                               const std::vector<VerdictRule>& rules, FailureSource& source,
                               std::span<const SimulatedEvent> events, double until) {
  SimulatedDecisions decided;
  SimulatedRun run(plan, spares, rules, &source, &decided.actions);
  for (const SimulatedEvent& event : events) {
    if (event.kind == SimulatedEvent::Kind::kNotStarted)
      run.CannotStart(event.process, static_cast<std::uint32_t>(event.code));
  }
  run.Begin(0);
  for (const SimulatedEvent& event : events) {
    run.Advance(std::max(event.at, 0.0));
    if (run.over()) break;
    switch (event.kind) {
      case SimulatedEvent::Kind::kExited:
        run.Exit(event.process, event.signalled, event.code);
        break;
      case SimulatedEvent::Kind::kNotStarted:
        break;
      case SimulatedEvent::Kind::kHeld:
        run.Hold(event.machine);
        break;
      case SimulatedEvent::Kind::kLost:
        run.Fail(event.machine, true);
        break;
      case SimulatedEvent::Kind::kSilent:
        run.FallSilent(event.process, event.together);
        break;
      case SimulatedEvent::Kind::kStopAsked:
        run.AskToStop();
        break;
    }
  }
  run.Advance(until);
  if (run.over()) decided.ended = run.Ended();
  return decided;
}

double BestInterval(double save_s, double between_failures_s) {
  if (save_s >= 2 * between_failures_s) return between_failures_s;
  const double ratio = save_s / (2 * between_failures_s);
  return std::sqrt(2 * save_s * between_failures_s) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - save_s;
}

double KeptShare(double interval_s, double save_s, double start_s, double between_failures_s) {
  const double segment = between_failures_s * std::exp(start_s / between_failures_s) *
                         std::expm1((interval_s + save_s) / between_failures_s);
  return interval_s / segment;
}

}  // namespace muster
