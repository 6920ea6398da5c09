// Simulates random jobs: agents that start, lose and kill processes at random, impatient users, broken connections. The
// invariants must always hold. A seed that violates one becomes a test.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "run/milliseconds.h"
#include "run/sample_plan.h"
#include "run/supervise/supervisor.h"

namespace muster {
namespace {

class Simulation final : private FailureSource {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed), plan_(MakePlan()), spares_(Below(3), SiteHost{"spare", "", 0}), supervisor_(plan_, spares_) {
    for (std::uint32_t machine = 0; machine < supervisor_.slots().machines(); ++machine) {
      agents_.push_back({});
      agents_.back().mute = Chance(40);
    }
    processes_.resize(plan_.processes.size());
    if (Chance(2)) supervisor_.JudgeBy(DefaultVerdictRules(), *this);
    if (!processes_.empty() && Chance(4)) at_terminal_ = Below(static_cast<std::uint32_t>(processes_.size()));
  }

  void Run() {
    if (Chance(20)) {
      Do(supervisor_.Abandon("ports", now_));
    } else {
      Do(supervisor_.Begin(now_));
    }
    for (int step = 0; !over_; ++step) {
      ASSERT_LT(step, 5'000) << "the job does not end";
      ASSERT_NO_FATAL_FAILURE(Next());
    }
    Check();
  }

 private:
  // State of the latest attempt.
  struct MachineProcess {
    bool ordered = false;
    std::uint32_t attempt = 0;
    std::uint32_t machine = 0;  // where it was started
    bool alive = false;
    bool ordered_to_stop = false;
    bool unkillable = false;  // once it is stopped
    bool ended_well = false;
    bool reported_ready = false;  // the supervisor has received the event
    int reaped = 0;
    std::uint64_t written = 0;
  };
  struct MachineAgent {
    bool gone = false;
    bool reported_of = false;  // the end was reported
    bool finishing = false;
    bool mute = false;         // never reports its end
    std::deque<Event> outbox;  // in order, as a channel delivers
  };

  std::uint32_t Below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  bool Chance(std::uint32_t one_in) { return Below(one_in) == 0; }

  Plan MakePlan() {
    std::vector<SampleRole> roles;
    if (Chance(2)) roles.push_back({"scheduler", 1, Ending::kNever, Below(3) * 1'000, Below(3) * 1'000});
    if (Chance(2)) roles.push_back({"server", Below(4), Ending::kNever, Below(3) * 1'000, Below(3) * 1'000});
    if (!Chance(8)) roles.push_back({"worker", Below(7), Ending::kAll, Below(3) * 1'000, 0});
    if (Chance(4)) roles.push_back({"racer", 1 + Below(3), Ending::kAny, Below(3) * 1'000, 0});
    Plan plan = SamplePlan(roles, 1 + Below(3));
    if (Chance(4)) plan.time_limit_ms = 1 + Below(5'000);
    if (Chance(6)) plan.start_limit_ms = 1 + Below(3'000);
    if (Chance(8)) plan.silent_limit_ms = 100 + Below(3'000);
    for (std::uint32_t role = 0; role < plan.roles.size(); ++role) AddPolicies(plan.roles[role], role);
    if (Chance(3)) plan.ports["auto"] = {0, 0, ""};
    if (Chance(3)) plan.ports["given"] = {0, 8'000, ""};
    return plan;
  }

  void AddPolicies(Role& role, std::uint32_t index) {
    for (std::uint32_t other = 0; other < index; ++other) {
      if (Chance(3)) role.after.push_back(other);
    }
    constexpr Readiness::Kind kKinds[] = {Readiness::Kind::kPort, Readiness::Kind::kLine, Readiness::Kind::kDone};
    if (Chance(3)) role.ready.kind = kKinds[Below(3)];
    if (Chance(2)) role.ready.timeout_ms = 1 + Below(2'000);
    if (Chance(6)) role.limits.time_ms = 1 + Below(4'000);
    if (Chance(8)) role.limits.silent_ms = 100 + Below(3'000);
    if (Chance(2)) return;
    role.restart.max = 1 + Below(4);
    role.restart.within_ms = Below(3) * 700;
    role.restart.scope = static_cast<RestartPolicy::Scope>(Below(3));
    role.restart.any_failure = !Chance(4);
    role.restart.success = Chance(5);
    if (Chance(3)) role.restart.codes = {1};
    role.restart.backoff_ms = Below(3) * 100;
    role.restart.verdict = Chance(2);
  }

  // Failures that are alike, so that every verdict is given.
  FailureTraits Look(const AskedFailure& failure) override {
    FailureTraits traits{failure.end.kind == HowEnded::Kind::kLost ? "host"
                         : Chance(2)                               ? "silent"
                                                                   : "exception",
                         "f", "a failure"};
    if (Chance(3)) traits.step = Below(3);
    traits.ready = failure.ready.value_or(Chance(2));
    return traits;
  }

  void Feed(const Event& event) {
    ASSERT_NE(supervisor_.phase(), Phase::kDone);
    const bool had_cause = supervisor_.cause() != Cause::kNone;
    const Cause cause = supervisor_.cause();
    if (std::holds_alternative<StopRequested>(event)) ++stops_asked_;
    if (const auto* started = std::get_if<ProcessStarted>(&event)) {
      if (RoleOf(started->process).ready.kind == Readiness::Kind::kStarted) Tell(started->process, started->attempt);
    } else if (const auto* opened = std::get_if<PtyOpened>(&event)) {
      terminal_lent_ = processes_[opened->process].attempt == opened->attempt;
    } else if (std::holds_alternative<PtyClosed>(event)) {
      terminal_lent_ = false;
    } else if (const auto* lost = std::get_if<AgentLost>(&event)) {
      terminal_lent_ = terminal_lent_ && processes_[*at_terminal_].machine != lost->host;
    } else if (const auto* ready = std::get_if<ProcessReady>(&event)) {
      Tell(ready->process, ready->attempt);
    } else if (const auto* exited = std::get_if<ProcessExited>(&event)) {
      if (!exited->signalled && exited->code == 0) Tell(exited->process, exited->attempt);
    }
    Do(supervisor_.Step(event, now_));
    ASSERT_TRUE(!had_cause || supervisor_.cause() == cause) << "the first cause stays";
  }

  void Tell(ProcessId process, std::uint32_t attempt) {
    if (processes_[process].attempt == attempt) processes_[process].reported_ready = true;
  }

  void Do(const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      ASSERT_FALSE(over_) << "an action after the end";
      std::visit([this](const auto& a) { Perform(a); }, action);
    }
  }

  void Perform(const StartOrdered& order) {
    MachineProcess& process = processes_[order.process];
    ASSERT_FALSE(rebinding_) << "started before there were other ports";
    ASSERT_TRUE(replacing_.empty()) << "started before the place of a lost host was taken";
    ASSERT_EQ(order.attempt, process.ordered ? process.attempt + 1 : 0) << "started twice, or an attempt left out";
    ASSERT_FALSE(process.alive) << "started again while it runs";
    ASSERT_FALSE(stopping_) << "started after a stop";
    for (const std::uint32_t role : RoleOf(order.process).after) {
      for (ProcessId other = 0; other < processes_.size(); ++other) {
        ASSERT_TRUE(plan_.processes[other].role != role || processes_[other].reported_ready) << "started too early";
      }
    }
    process = MachineProcess();
    process.ordered = true;
    process.attempt = order.attempt;
    process.machine = supervisor_.slots().machine(plan_.processes[order.process].host);
    MachineAgent& agent = agents_[process.machine];
    ASSERT_FALSE(agent.gone && agent.reported_of) << "started on a host that is known to be lost";
    if (agent.gone) return;
    if (Chance(12)) {
      agent.outbox.push_back(SpawnFailed{order.process, order.attempt, "exec", ENOENT, "x", now_});
    } else {
      process.alive = true;
      process.unkillable = Chance(60);
      agent.outbox.push_back(ProcessStarted{order.process, order.attempt, 1, 1, now_});
      if (order.process == at_terminal_) agent.outbox.push_back(PtyOpened{order.process, order.attempt, now_});
      const Readiness::Kind kind = RoleOf(order.process).ready.kind;
      const bool tells = kind != Readiness::Kind::kStarted && kind != Readiness::Kind::kDone;
      if (tells && !Chance(6)) agent.outbox.push_back(ProcessReady{order.process, order.attempt, now_});
    }
  }
  void Perform(const StopOrdered& order) {
    if (supervisor_.cause() == Cause::kFailed || supervisor_.cause() == Cause::kSpawn) {
      ASSERT_TRUE(failure_recorded_) << "stopped before the first failure was recorded";
    }
    ASSERT_FALSE(order.processes.empty());
    for (const ProcessId process : order.processes) {
      ASSERT_TRUE(processes_[process].ordered) << "signalled what was never started";
      const bool again = processes_[process].ordered_to_stop;
      ASSERT_TRUE(!again || order.grace_ms == 0) << "told to stop twice";
      processes_[process].ordered_to_stop = true;
    }
    stopping_ = supervisor_.phase() != Phase::kStarting && supervisor_.phase() != Phase::kRunning;
  }
  void Perform(const RestartPlanned& restart) {
    const RestartPolicy& policy = RoleOf(restart.process).restart;
    ASSERT_FALSE(restart.processes.empty());
    ASSERT_EQ(restart.attempt, processes_[restart.process].attempt);
    for (const ProcessId process : restart.processes) processes_[process].reported_ready = false;
    const bool elsewhere = restart.why.find("port auto (") != std::string::npos &&
                           restart.why.find("already got other ports") == std::string::npos;
    if (elsewhere) {
      ASSERT_EQ(restart.count, ++rebinds_);
      ASSERT_LE(rebinds_, kMaxRebinds);
      return;
    }
    std::vector<MonotonicNs>& times = restarts_[plan_.processes[restart.process].role];
    times.push_back(now_);
    const auto within = std::count_if(times.begin(), times.end(), [&](MonotonicNs at) {
      return policy.within_ms == 0 || now_ - at < policy.within_ms * kMs;
    });
    ASSERT_LE(within, policy.max) << "restarted more often than allowed";
    ASSERT_EQ(within, restart.count);
  }
  void Perform(const ReplaceOrdered& order) {
    ASSERT_FALSE(rebinding_);
    ASSERT_FALSE(agents_[order.by].gone) << "a lost host takes the place of another";
    ASSERT_GE(order.by, plan_.hosts.size());
    ASSERT_TRUE(taken_.insert(order.by).second) << "a spare takes two places";
    for (ProcessId process = 0; process < processes_.size(); ++process) {
      const bool there = processes_[process].alive && !agents_[processes_[process].machine].gone;
      ASSERT_TRUE(plan_.processes[process].host != order.host || !there) << "replaced while a process runs there";
    }
    replacing_.insert_or_assign(order.host, order.by);
  }
  void Perform(const RebindOrdered&) { ASSERT_FALSE(std::exchange(rebinding_, true)) << "asked twice"; }
  void Perform(const FailureJudged& judged) {
    ASSERT_EQ(judged.attempt, processes_[judged.process].attempt);
    ASSERT_TRUE(supervisor_.AtWork() || supervisor_.cause() != Cause::kNone);
  }
  void Perform(const LimitPassed& limit) { ASSERT_TRUE(processes_[limit.process].ordered); }
  void Perform(const RequestOutput&) {
    for (std::uint32_t host = 0; host < agents_.size(); ++host) {
      if (agents_[host].gone) continue;
      OutputSeen seen{host, {}, {}};
      for (ProcessId process = 0; process < processes_.size(); ++process) {
        if (processes_[process].machine != host || !processes_[process].alive) continue;
        if (Chance(3)) ++processes_[process].written;
        seen.processes.push_back(process);
        seen.bytes.push_back(processes_[process].written);
      }
      agents_[host].outbox.push_back(seen);
    }
  }
  void Perform(const DumpOrdered& order) {
    ASSERT_FALSE(std::exchange(dumping_, true)) << "two dumps at a time";
    ASSERT_EQ(order.dump, ++dumps_);
    for (std::uint32_t host = 0; host < agents_.size(); ++host) {
      // Some agents never answer.
      if (!agents_[host].gone && !Chance(10)) agents_[host].outbox.push_back(HostDumped{host, order.dump, {}});
    }
  }
  void Perform(const DumpEnded& ended) {
    ASSERT_TRUE(std::exchange(dumping_, false)) << "a dump ends that was not taken";
    ASSERT_EQ(ended.dump, dumps_);
  }
  void Perform(const FinishOrdered&) {
    ASSERT_FALSE(dumping_) << "a dump outlives the job";
    ASSERT_FALSE(std::exchange(finished_, true)) << "finished twice";
    for (MachineAgent& agent : agents_) agent.finishing = true;
  }
  void Perform(const ArmTimer& timer) {
    ASSERT_GE(timer.deadline, now_);
    ASSERT_FALSE(terminal_lent_ && Pauses(timer.timer)) << "a deadline runs while the user has a process's terminal";
    timers_[timer.timer] = timer.deadline;
  }
  void Perform(const DisarmTimer& timer) { ASSERT_EQ(timers_.erase(timer.timer), 1U); }
  void Perform(const EndRun&) { over_ = true; }
  void Perform(const PhaseChanged& change) { ASSERT_LT(change.from, change.to); }
  void Perform(const FirstFailure&) { ASSERT_FALSE(std::exchange(failure_recorded_, true)) << "two first failures"; }
  void Perform(const FailureTraced&) { ASSERT_TRUE(failure_recorded_) << "traced what had not failed"; }
  void Perform(const EndedEarly& early) { ASSERT_EQ(RoleOf(early.process).ending, Ending::kNever); }
  void Perform(const StrayEvent& stray) { ADD_FAILURE() << "an honest machine has no strays: " << stray.what; }

  bool SomeEndedWell(std::uint32_t role) const {
    for (ProcessId process = 0; process < processes_.size(); ++process) {
      if (plan_.processes[process].role == role && processes_[process].ended_well) return true;
    }
    return false;
  }

  const Role& RoleOf(ProcessId process) const { return plan_.roles[plan_.processes[process].role]; }

  void Next() {
    // Restarts within a renewing budget can continue for ever, so the simulation has a limit.
    constexpr int kPatience = 2'000;
    if (++steps_ > kPatience && stops_asked_ == 0) return Feed(StopRequested{1, SIGINT});
    if (impatient_ && Chance(60)) return Feed(StopRequested{stops_asked_ + 1, SIGINT, Chance(3)});
    if (curious_ && Chance(60)) return Feed(DumpRequested{});
    if (rebinding_ && Chance(4)) {
      rebinding_ = false;
      return Feed(PlanRebound{{{"auto", 20'000}}, Chance(10) ? "none" : ""});
    }
    if (!replacing_.empty() && Chance(4)) {
      const auto [host, by] = *replacing_.begin();
      replacing_.erase(host);
      return Feed(HostReplaced{host, by, "spare", "", {}, {}, {}, Chance(5) ? "its devices are taken" : ""});
    }
    const std::uint32_t host = Below(static_cast<std::uint32_t>(agents_.size()));
    MachineAgent& agent = agents_[host];
    if (agent.gone || Chance(4)) return PassTime();
    if (flaky_ && Chance(150)) {
      agent.gone = agent.reported_of = true;
      agent.outbox.clear();
      for (ProcessId id = 0; id < processes_.size(); ++id) {
        if (processes_[id].machine == host) processes_[id].alive = false;
      }
      std::erase_if(replacing_, [&](const auto& each) { return each.second == host; });
      return Feed(AgentLost{host, "cut", 0});
    }
    if (!agent.outbox.empty() && !Chance(3)) {
      const Event event = agent.outbox.front();
      agent.outbox.pop_front();
      return Feed(event);
    }
    EndOne(host);
  }

  // A process of the host exits by itself or on a command; a finishing agent kills all processes and reports that.
  void EndOne(std::uint32_t host) {
    MachineAgent& agent = agents_[host];
    std::vector<ProcessId> alive;
    bool any_alive = false;
    for (ProcessId id = 0; id < processes_.size(); ++id) {
      if (processes_[id].machine != host || !processes_[id].alive) continue;
      any_alive = true;
      if (!processes_[id].unkillable || !processes_[id].ordered_to_stop) alive.push_back(id);
    }
    if (alive.empty()) {
      if (any_alive || agent.mute) return PassTime();
      if (agent.finishing && agent.outbox.empty()) {
        agent.gone = true;
        Feed(AgentEmpty{host, 0, 0, 0, {}});
      }
      return;
    }
    const ProcessId id = alive[Below(static_cast<std::uint32_t>(alive.size()))];
    MachineProcess& process = processes_[id];
    if (process.ordered_to_stop && Chance(30) && !agent.finishing) return;  // exits slowly
    process.alive = false;
    ++process.reaped;
    ProcessExited exited;
    exited.process = id;
    exited.attempt = process.attempt;
    exited.signalled = process.ordered_to_stop || agent.finishing ? !Chance(3) : Chance(40);
    exited.code = exited.signalled ? SIGTERM : Chance(12) ? 1 : 0;
    process.ended_well = !exited.signalled && exited.code == 0;
    if (!process.ended_well && !process.ordered_to_stop && Chance(3)) {
      for (const auto& [name, port] : plan_.ports) {
        agent.outbox.push_back(PortTaken{id, process.attempt, name, 20'311, "process 7", false, now_});
      }
    }
    if (id == at_terminal_) agent.outbox.push_back(PtyClosed{id, process.attempt, 0, 0, now_});
    agent.outbox.push_back(exited);
  }

  void PassTime() {
    if (timers_.empty()) {
      now_ += kMs;
      return;
    }
    const auto next = std::min_element(timers_.begin(), timers_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (!Chance(5)) {
      now_ = std::min(now_ + (1 + Below(300)) * kMs, next->second);
      if (now_ < next->second) return;
    }
    now_ = next->second;
    const std::uint64_t timer = next->first;
    timers_.erase(next);
    Feed(DeadlinePassed{timer});
  }

  void Check() {
    EXPECT_TRUE(timers_.empty()) << "a timer outlives the job";
    EXPECT_EQ(supervisor_.phase(), Phase::kDone);
    for (const MachineProcess& process : processes_) EXPECT_LE(process.reaped, 1);
    const RunEnded ended = supervisor_.Ended(false);
    EXPECT_EQ(ended.cause == Cause::kNone, ended.exit_code == 0);
    EXPECT_EQ(ended.cause == Cause::kNone, ended.why.empty());
    EXPECT_EQ(ended.cause == Cause::kFailed || ended.cause == Cause::kSpawn, failure_recorded_);
    switch (ended.cause) {
      case Cause::kNone:
        for (ProcessId id = 0; id < processes_.size(); ++id) {
          EXPECT_EQ(supervisor_.state(id), ProcessState::kEnded);
          EXPECT_FALSE(processes_[id].alive) << "all well, and something runs";
          EXPECT_TRUE(processes_[id].ended_well || RoleOf(id).ending != Ending::kAll) << "all well, and one is not";
        }
        for (std::uint32_t role = 0; role < plan_.roles.size(); ++role) {
          if (plan_.roles[role].ending != Ending::kAny) continue;
          EXPECT_TRUE(SomeEndedWell(role)) << "all well, and of a kAny role nobody is";
        }
        for (const MachineAgent& agent : agents_) EXPECT_TRUE(agent.gone) << "all well, and an agent is not heard of";
        break;
      case Cause::kFailed:
      case Cause::kTimeLimit:
        EXPECT_EQ(ended.exit_code, 1);
        break;
      case Cause::kStopped:
        EXPECT_EQ(ended.exit_code, 128 + SIGINT);
        break;
      default:
        EXPECT_EQ(ended.exit_code, 3);
        break;
    }
  }

  std::mt19937_64 random_;
  bool impatient_ = Chance(3);  // the user stops repeatedly
  bool curious_ = Chance(3);    // the user requests dumps
  bool dumping_ = false;
  std::uint32_t dumps_ = 0;
  bool flaky_ = Chance(3);  // the network loses connections
  Plan plan_;
  std::vector<SiteHost> spares_;
  Supervisor supervisor_;
  std::map<std::uint32_t, std::uint32_t> replacing_;  // host of the plan -> spare
  std::set<std::uint32_t> taken_;                     // spares in use
  MonotonicNs now_ = 1;
  std::vector<MachineAgent> agents_;
  std::vector<MachineProcess> processes_;
  std::optional<ProcessId> at_terminal_;  // the process with a pseudo-terminal
  bool terminal_lent_ = false;            // as known to the supervisor
  std::map<std::uint64_t, MonotonicNs> timers_;
  std::map<std::uint32_t, std::vector<MonotonicNs>> restarts_;  // by role
  int steps_ = 0;
  std::uint32_t stops_asked_ = 0;
  std::uint32_t rebinds_ = 0;
  bool rebinding_ = false;
  bool stopping_ = false;
  bool finished_ = false;
  bool failure_recorded_ = false;
  bool over_ = false;
};

TEST(SupervisorSimulation, KeepsItsInvariants) {
  constexpr std::uint64_t kSeeds = 20'000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Simulation(seed).Run();
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace muster
