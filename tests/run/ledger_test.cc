// Tests the ledger of device time: single histories with their rows, and generated ones, whose rows add up exactly.
#include "run/report/ledger.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/system/clock.h"
#include "run/history_of.h"
#include "run/sample_plan.h"

namespace muster {
namespace {

constexpr std::uint64_t kNs = 1'000'000'000;
constexpr std::uint64_t kLedgerWall = 1'790'000'000 * kNs;  // when the clocks of the journals are 0

// Seconds by the names of rows and reasons, without those that are 0.
using Rows = std::map<std::string, std::uint64_t>;

Rows RowsOf(const Ledger& ledger) {
  Rows rows;
  for (std::size_t i = 0; i < kLedgerRows; ++i) {
    EXPECT_EQ(ledger.rows[i] % kNs, DeviceNs{0});
    if (ledger.rows[i] > 0) {
      rows[std::string(LedgerRowName(static_cast<LedgerRow>(i)))] = static_cast<std::uint64_t>(ledger.rows[i] / kNs);
    }
  }
  return rows;
}

// Two workers with a device each, on one host.
Plan TwoWorkers() {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.hosts[0].devices = 4;
  for (Process& process : plan.processes) process.devices = {process.index};
  return plan;
}

Plan WithCheckpoints(Plan plan) {
  plan.checkpoints.dir = Text("checkpoints");
  plan.checkpoints.latest = "*";
  return plan;
}

// A journal that is written line by line, in seconds.
struct WrittenJournal {
  explicit WrittenJournal(Plan its_plan) : plan(std::move(its_plan)) {}

  WrittenJournal& Say(std::uint64_t second, JournalEntry entry) { return SayNs(second * kNs, std::move(entry)); }
  WrittenJournal& SayNs(std::uint64_t at, JournalEntry entry) {
    contents.records.push_back({contents.records.size() + 1, UtcText(kLedgerWall + at), at, std::move(entry)});
    return *this;
  }
  // Agent after 2 s, bound after 5; processes are ordered after 10 s and start one later.
  WrittenJournal& Begin(std::uint64_t at = 0) {
    Say(at, RunBegan{});
    for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
      Say(at + 2, AgentConnected{host, 1, 1, "n", {}, "", 0, 0});
    Say(at + 5, PlanBound{"/r", {}, {}, {}});
    Start(at + 10, 0);
    return *this;
  }
  WrittenJournal& Start(std::uint64_t at, std::uint32_t attempt) {
    for (ProcessId id = 0; id < plan.processes.size(); ++id) Say(at, StartOrdered{id, attempt});
    for (ProcessId id = 0; id < plan.processes.size(); ++id)
      Say(at + 1, ProcessStarted{id, attempt, 7, 1, (at + 1) * kNs});
    return *this;
  }
  WrittenJournal& Exit(std::uint64_t at, ProcessId id, std::uint32_t attempt, std::int32_t code) {
    ProcessExited exited;
    exited.process = id;
    exited.attempt = attempt;
    exited.code = code;
    exited.at = at * kNs;
    return Say(at, exited);
  }
  WrittenJournal& End(std::uint64_t stopping, std::uint64_t at, Cause cause) {
    Say(stopping, PhaseChanged{Phase::kRunning, Phase::kStopping});
    RunEnded ended;
    ended.cause = cause;
    return Say(at, ended);
  }
  LedgerRun Run() const {
    LedgerRun run;
    run.plan = std::make_shared<const Plan>(plan);
    run.history = HistoryOf(plan, contents);
    run.until = run.history.last.on_head;
    run.newest_wall_ns = 0;
    return run;
  }
  Rows Made() const { return RowsOf(LedgersOf(std::vector{Run()}).front()); }

  Plan plan;
  JournalContents contents;
};

TEST(Ledger, OfARunThatSucceedsKeepsItsWork) {
  WrittenJournal journal(TwoWorkers());
  journal.Begin().Exit(100, 0, 0, 0).Exit(110, 1, 0, 0).End(110, 112, Cause::kNone);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 4},
                                  {"starting_start", 18},
                                  {"productive_kept", 89 + 99},
                                  {"idle_devices", 10},
                                  {"failing_stopping", 4}}));
}

TEST(Ledger, CountsProcessesWithoutDevices) {
  WrittenJournal journal(SamplePlan({{"worker", 3}}));
  journal.Begin().Exit(20, 0, 0, 0).Exit(20, 1, 0, 0).Exit(20, 2, 0, 0).End(20, 21, Cause::kNone);
  const LedgerRun run = journal.Run();
  const Ledgers ledgers = LedgerOf({&run, 1});
  EXPECT_EQ(ledgers.devices, Ledger());
  EXPECT_EQ(ledgers.process_slots.Total(), DeviceNs{3 * 21} * kNs);
  EXPECT_EQ(ledgers.process_slots.runs, 1U);
}

TEST(Ledger, SplitsTheStepsBeforeTheFirstProcess) {
  WrittenJournal journal(TwoWorkers());
  journal.plan.roles[0].ready.kind = Readiness::Kind::kFile;
  journal.Say(0, RunBegan{})
      .Say(2, AgentConnected{0, 1, 1, "n", {}, "", 0, 0})
      .Say(5, HostsCompared{})
      .Say(6, PathsCompared{})
      .Say(9, CodeShipped{})
      .Say(13, HostActivated{})
      .Say(14, DevicesAwaited{0, 2, "run a"})
      .Say(24, PlanBound{"/r", {}, {}, {}})
      .Start(25, 0)
      .Say(30, ProcessReady{0, 0, 30 * kNs})
      .Say(36, ProcessReady{1, 0, 36 * kNs})
      .Exit(40, 0, 0, 0)
      .Exit(40, 1, 0, 0)
      .End(40, 40, Cause::kNone);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 4},
                                  {"starting_inspect", 8},
                                  {"starting_ship", 14},
                                  {"waiting_for_devices", 20},
                                  {"starting_start", 2 * (1 + 2)},
                                  {"starting_ready", 4 + 10},
                                  {"productive_kept", 10 + 4}}));
}

TEST(Ledger, OfARestartLosesTheWorkAfterTheCheckpointFromWhichItContinued) {
  WrittenJournal journal(WithCheckpoints(TwoWorkers()));
  journal.Begin()
      .Exit(50, 0, 0, 1)
      .Say(50, RestartPlanned{0, 0, "job", {0, 1}, 1, 2, 0, "worker.0 exited"})
      .Exit(53, 1, 0, 1)
      .Say(60, CheckpointSeen{"/c/step_3", "", 20'000})  // written at 40
      .Start(60, 1)
      .Exit(100, 0, 1, 0)
      .Exit(100, 1, 1, 0)
      .End(100, 100, Cause::kNone);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 4},
                                  {"starting_start", 18 + 2},
                                  {"productive_kept", 2 * (29 + 39)},
                                  {"productive_lost", 2 * 10},
                                  {"failing_stopping", 2 * 10}}));
}

TEST(Ledger, DoesNotGuessWhenACheckpointWasWritten) {
  WrittenJournal journal(WithCheckpoints(TwoWorkers()));
  journal.Begin()
      .Exit(50, 0, 0, 1)
      .Say(50, RestartPlanned{0, 0, "process", {0}, 1, 2, 0, "worker.0 exited"})
      .Say(50, CheckpointSeen{"/c/step_3", ""})
      .Say(50, StartOrdered{0, 1})
      .Say(50, ProcessStarted{0, 1, 9, 1, 50 * kNs})
      .Exit(60, 0, 1, 0)
      .Exit(60, 1, 0, 0)
      .End(60, 60, Cause::kNone);
  EXPECT_EQ(
      journal.Made(),
      (Rows{{"starting_place", 4}, {"starting_start", 18}, {"checkpoint_time", 39}, {"productive_kept", 10 + 49}}));
}

TEST(Ledger, OfAFailedRunKeepsWhatIsInItsNewestCheckpoint) {
  WrittenJournal journal(WithCheckpoints(TwoWorkers()));
  journal.Begin().Exit(50, 0, 0, 1).Say(50, FirstFailure{0, 0}).End(50, 55, Cause::kFailed);
  EXPECT_EQ(journal.Made()["productive_lost"], 2 * 39U);
  LedgerRun run = journal.Run();
  run.newest_wall_ns = kLedgerWall + 31 * kNs;
  EXPECT_EQ(RowsOf(LedgersOf(std::vector{run}).front()), (Rows{{"starting_place", 4},
                                                               {"starting_start", 18},
                                                               {"productive_kept", 2 * 20},
                                                               {"productive_lost", 2 * 19},
                                                               {"failing_stopping", 2 * 5}}));
  run.newest_wall_ns.reset();
  EXPECT_EQ(RowsOf(LedgersOf(std::vector{run}).front())["checkpoint_time"], 2 * 39U);
}

TEST(Ledger, OfARunThatItsUserStoppedDoesNotKnowWhetherItsResultIsUsed) {
  WrittenJournal journal(TwoWorkers());
  journal.Begin().Say(50, StopRequested{}).End(50, 51, Cause::kStopped);
  EXPECT_EQ(journal.Made()["stopped"], 2 * 39U);
  LedgerRun run = journal.Run();
  run.result_used = true;
  EXPECT_EQ(RowsOf(LedgersOf(std::vector{run}).front())["productive_kept"], 2 * 39U);
}

TEST(Ledger, OfAChainKeepsWhatTheLastRunContinued) {
  WrittenJournal first(WithCheckpoints(TwoWorkers()));
  first.Begin().Exit(50, 0, 0, 1).Exit(50, 1, 0, 1).End(50, 50, Cause::kFailed);
  const auto next = [](std::uint64_t at, std::int64_t written, Cause cause) {
    WrittenJournal journal(WithCheckpoints(TwoWorkers()));
    journal.Say(at, RunBegan{})
        .Say(at, AgentConnected{0, 1, 1, "n", {}, "", 0, 0})
        .Say(at, PlanBound{"/r", {}, {}, {}})
        .Say(at, CheckpointSeen{"/c", "r0", (static_cast<std::int64_t>(at) - written) * 1000})
        .Start(at, 0)
        .Exit(at + 21, 0, 0, cause == Cause::kNone ? 0 : 1)
        .Exit(at + 21, 1, 0, cause == Cause::kNone ? 0 : 1)
        .End(at + 21, at + 21, cause);
    return journal;
  };
  std::vector<LedgerRun> runs = {first.Run(), next(1000, 41, Cause::kFailed).Run()};
  runs[0].newest_wall_ns = kLedgerWall + 45 * kNs;
  runs[1].continues = 0;
  std::vector<Ledger> ledgers = LedgersOf(runs);
  EXPECT_EQ(RowsOf(ledgers[0])["productive_kept"], 2 * 30U) << "and not what is in its newest checkpoint";
  EXPECT_EQ(RowsOf(ledgers[0])["productive_lost"], 2 * 9U);
  EXPECT_EQ(RowsOf(ledgers[1])["productive_lost"], 2 * 20U);

  // A third run goes back behind the second one: only that counts.
  runs.push_back(next(2000, 31, Cause::kNone).Run());
  runs[2].continues = 1;
  ledgers = LedgersOf(runs);
  EXPECT_EQ(RowsOf(ledgers[0])["productive_kept"], 2 * 20U);
  EXPECT_EQ(RowsOf(ledgers[1])["productive_lost"], 2 * 20U);
  EXPECT_EQ(RowsOf(ledgers[2])["productive_kept"], 2 * 20U);
  runs[2].continues = 0;
  ledgers = LedgersOf(runs);
  EXPECT_EQ(RowsOf(ledgers[0])["productive_kept"], 2 * 30U) << "of two that continued it, the one that kept more";
}

TEST(Ledger, CountsSilenceUntilItWasFound) {
  WrittenJournal journal(TwoWorkers());
  journal.Begin()
      .Say(20, OutputSeen{0, {0, 1}, {5, 5}})
      .Say(30, OutputSeen{0, {0, 1}, {5, 9}})
      .Say(40, OutputSeen{0, {0, 1}, {5, 12}})
      .Say(40, LimitPassed{0, 0, "silent", 20'000})
      .End(40, 45, Cause::kFailed);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 4},
                                  {"starting_start", 18},
                                  {"productive_lost", 9 + 29},
                                  {"silent", 20},
                                  {"failing_stopping", 10}}));
}

TEST(Ledger, CountsLostHostsAndIdleSpares) {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  for (Process& process : plan.processes) process.devices = {0, 1};
  WrittenJournal journal(plan);
  journal.Begin()
      .Say(20, AgentConnected{2, 1, 1, "spare", {}, "", 0, 0})
      .Say(50, AgentLost{1, "no heartbeat for 10 s", 0, 10'000})
      .Say(50, RestartPlanned{1, 0, "process", {1}, 1, 2, 0, "n1 was lost"})
      .Say(55, HostReplaced{1, 2, "spare", "", {}, {}, {}, ""})
      .Say(56, StartOrdered{1, 1})
      .Say(57, ProcessStarted{1, 1, 9, 1, 57 * kNs})
      .Exit(80, 0, 0, 0)
      .Exit(80, 1, 1, 0)
      .End(80, 80, Cause::kNone);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 2 * 4},
                                  {"starting_start", 2 * (18 + 1)},
                                  {"productive_kept", 2 * (69 + 23)},
                                  {"productive_lost", 2 * 29},
                                  {"silent", 2 * 10},
                                  {"failing_stopping", 2 * 6},
                                  {"idle_devices", 2 * 35}}));
}

TEST(Ledger, KnowsStallsOfCheckpointsAndWhatItDoesNotKnowOfThem) {
  WrittenJournal journal(TwoWorkers());
  journal.plan.roles[0].stop.checkpoint_signal = "USR1";
  journal.Begin().Say(50, StopRequested{}).End(58, 60, Cause::kStopped);
  LedgerRun run = journal.Run();
  run.writes = {{5 * kNs, 15 * kNs, true}, {30 * kNs, 32 * kNs, false}};
  EXPECT_EQ(RowsOf(LedgersOf(std::vector{run}).front()), (Rows{{"starting_place", 4},
                                                               {"starting_start", 18},
                                                               {"checkpoint_stalls", 2 * (4 + 8)},
                                                               {"checkpoint_writing", 2 * 2},
                                                               {"stopped", 2 * 33},
                                                               {"failing_stopping", 2 * 2}}));
}

TEST(Ledger, OfAnAllocationHasItsQueueAndUnusedDevices) {
  WrittenJournal journal(TwoWorkers());
  journal.Begin().Exit(20, 0, 0, 0).Exit(20, 1, 0, 0).End(20, 20, Cause::kNone);
  LedgerRun run = journal.Run();
  run.allocated = true;
  run.queued_ns = 100 * kNs;
  Rows rows = RowsOf(LedgersOf(std::vector{run}).front());
  EXPECT_EQ(rows["queued"], 4 * 100U);
  EXPECT_EQ(rows["idle_devices"], 2 * 20U);
}

TEST(Ledger, OfADeviceWithTwoProcessesIsThatOfTheOneThatWorks) {
  Plan plan = TwoWorkers();
  plan.processes[1].devices = {0};
  WrittenJournal journal(plan);
  journal.Begin().Exit(20, 0, 0, 0).Exit(30, 1, 0, 0).End(30, 30, Cause::kNone);
  EXPECT_EQ(journal.Made(), (Rows{{"starting_place", 2}, {"starting_start", 9}, {"productive_kept", 19}}));
}

// A journal of anything that fits the plan, in any order; what is expected of its total is counted beside it.
class Generated {
 public:
  explicit Generated(std::uint64_t seed) : random_(seed), journal_(AnyPlan()) {
    Say(RunBegan{});
    const std::uint32_t hosts = static_cast<std::uint32_t>(journal_.plan.hosts.size());
    for (std::uint32_t host = Below(5) == 0 ? hosts : 0; host < hosts; ++host) {
      Say(AgentConnected{host, 1, 1, "n", {}, "", 0, 0});
    }
    std::vector<std::uint32_t> attempts(journal_.plan.processes.size(), 0);
    for (std::uint64_t left = Below(120); left > 0; --left) {
      const auto id = static_cast<ProcessId>(Below(journal_.plan.processes.size()));
      const std::uint32_t attempt = attempts[id] == 0 ? 0 : attempts[id] - 1;
      const MonotonicNs on = at_ - std::min(at_, Below(2 * kNs));
      switch (Below(22)) {
        case 0:
        case 1:
        case 2:
          Say(StartOrdered{id, attempts[id]++});
          break;
        case 3:
        case 4:
          Say(ProcessStarted{id, attempt, 7, 1, on});
          break;
        case 5:
          Say(ProcessReady{id, attempt, on});
          break;
        case 6:
          Say(ExitOf(id, attempt, on));
          break;
        case 7:
          Say(SpawnFailed{id, attempt, "exec", 2, "", on});
          break;
        case 8:
          Say(RestartPlanned{id, attempt, "job", {id}, 1, 9, 0, ""});
          break;
        case 9:
          Say(CheckpointSeen{"/c", Below(3) == 0 ? "r0" : "", AnyAge()});
          break;
        case 10:
          Say(OutputSeen{0, {id}, {Below(3)}});
          break;
        case 11:
          Say(LimitPassed{id, attempt, Below(2) == 0 ? "silent" : "silent_job", 1});
          break;
        case 12:
          Say(AgentLost{static_cast<std::uint32_t>(Below(hosts)), "cut", 0, Below(9'000)});
          break;
        case 13:
          Say(ClockCompared{static_cast<std::uint32_t>(Below(hosts)), static_cast<std::int64_t>(Below(9 * kNs)) - 4,
                            5});
          break;
        case 14:
          Say(HostsCompared{});
          break;
        case 15:
          Say(HostActivated{});
          break;
        case 16:
          Say(DevicesAwaited{});
          break;
        case 17:
          Say(PlanBound{});
          break;
        case 18:
          Say(StopRequested{});
          break;
        case 19:
          Say(AgentConnected{static_cast<std::uint32_t>(Below(hosts)), 1, 1, "n", {}, "", 0, 0});
          break;
        case 20:
          if (!spare_from_) {
            spare_from_ = Say(AgentConnected{hosts, 1, 1, "s", {}, "", 0, 0});
          } else if (!spare_to_) {
            spare_to_ = Say(HostReplaced{0, hosts, "s", "", {}, {}, {}, ""});
          }
          break;
        default:
          if (Below(30) == 0) Say(PhaseChanged{Phase::kRunning, Phase::kStopping});
      }
    }
    if (Below(3) != 0) {
      RunEnded ended;
      ended.cause = static_cast<Cause>(Below(4));
      Say(ended);
    }
  }

  LedgerRun Run() {
    LedgerRun run = journal_.Run();
    run.until += Below(2) * Below(5 * kNs);
    run.live = !run.history.ended && Below(2) == 0;
    run.allocated = Below(3) == 0;
    run.queued_ns = Below(2) * Below(50 * kNs);
    if (Below(3) == 0) {
      run.newest_wall_ns.reset();
    } else {
      run.newest_wall_ns = kLedgerWall + Below(300 * kNs);
    }
    for (std::uint64_t left = Below(4); left > 0; --left) {
      const MonotonicNs from = Below(200 * kNs);
      run.writes.push_back({from, from + Below(9 * kNs), Below(2) == 0});
    }
    return run;
  }

  // Wall clock times devices.
  DeviceNs Expected(const LedgerRun& run) const {
    std::map<std::uint32_t, std::set<std::uint32_t>> devices;
    std::map<std::uint32_t, std::uint64_t> processes;
    for (const Process& process : run.plan->processes) {
      devices[process.host].insert(process.devices.begin(), process.devices.end());
      ++processes[process.host];
    }
    std::uint64_t held = 0;
    std::uint64_t most = 0;
    for (std::uint32_t host = 0; host < run.plan->hosts.size(); ++host) {
      const std::uint64_t used = run.has_devices() ? devices[host].size() : processes[host];
      most = std::max(most, used);
      held += run.allocated && run.has_devices() ? std::max<std::uint64_t>(used, run.plan->hosts[host].devices) : used;
    }
    const MonotonicNs begin = run.history.first.on_head;
    DeviceNs total = DeviceNs{held} * (run.until - begin + run.queued_ns);
    if (spare_from_) total += DeviceNs{most} * (spare_to_.value_or(run.until) - *spare_from_);
    return total;
  }

 private:
  std::uint64_t Below(std::uint64_t limit) { return random_() % limit; }
  std::int64_t AnyAge() { return Below(5) == 0 ? -1 : static_cast<std::int64_t>(Below(60'000)); }
  MonotonicNs Say(JournalEntry entry) {
    at_ += Below(3 * kNs);
    journal_.SayNs(at_, std::move(entry));
    return at_;
  }
  ProcessExited ExitOf(ProcessId id, std::uint32_t attempt, MonotonicNs on) {
    ProcessExited exited;
    exited.process = id;
    exited.attempt = attempt;
    exited.code = static_cast<std::int32_t>(Below(2));
    exited.at = on;
    return exited;
  }
  Plan AnyPlan() {
    Plan plan = SamplePlan(
        {{"worker", static_cast<std::uint32_t>(1 + Below(4))}, {"server", static_cast<std::uint32_t>(1 + Below(2))}},
        static_cast<std::uint32_t>(1 + Below(3)));
    const std::uint64_t most = Below(3);
    for (PlanHost& host : plan.hosts) host.devices = static_cast<std::uint32_t>(Below(6));
    for (Process& process : plan.processes) {
      std::set<std::uint32_t> devices;
      for (std::uint64_t left = most; left > 0; --left) devices.insert(static_cast<std::uint32_t>(Below(5)));
      process.devices.assign(devices.begin(), devices.end());
    }
    if (Below(2) == 0) plan.roles[0].ready.kind = Readiness::Kind::kPort;
    if (Below(2) == 0) plan.roles[0].stop.checkpoint_signal = "USR1";
    return Below(2) == 0 ? WithCheckpoints(plan) : plan;
  }

  std::mt19937_64 random_;
  WrittenJournal journal_;
  MonotonicNs at_ = 1'000 * kNs;
  std::optional<MonotonicNs> spare_from_, spare_to_;
};

TEST(Ledger, OfAnyHistoryAddsUpExactly) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Generated generated(seed);
    const LedgerRun run = generated.Run();
    const Ledger ledger = LedgersOf({&run, 1}).front();
    ASSERT_EQ(ExactSeconds(ledger.Total()), ExactSeconds(generated.Expected(run))) << "seed " << seed;
  }
}

// Whatever becomes of the work, there is as much of it; and the later the checkpoint, the more of it is kept.
TEST(Ledger, KeepsMoreOfAnyHistoryTheLaterItsNewestCheckpointIs) {
  const auto work = [](const Ledger& ledger) {
    DeviceNs sum = 0;
    for (const LedgerRow row :
         {LedgerRow::kKept, LedgerRow::kLost, LedgerRow::kActive, LedgerRow::kCheckpointTime, LedgerRow::kStopped}) {
      sum += ledger.Of(row);
    }
    return sum;
  };
  int kept_more = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    LedgerRun run = Generated(seed).Run();
    std::optional<Ledger> before;
    for (const std::uint64_t newest : {0, 1'020, 1'050, 1'080, 1'110, 9'999}) {
      run.newest_wall_ns = kLedgerWall + newest * kNs;
      const Ledger ledger = LedgersOf({&run, 1}).front();
      if (before) {
        ASSERT_EQ(ExactSeconds(work(ledger)), ExactSeconds(work(*before))) << "seed " << seed;
        ASSERT_GE(SecondsOf(ledger.Of(LedgerRow::kKept)), SecondsOf(before->Of(LedgerRow::kKept))) << "seed " << seed;
        if (ledger.Of(LedgerRow::kKept) > before->Of(LedgerRow::kKept)) ++kept_more;
      }
      before = ledger;
    }
  }
  EXPECT_GT(kept_more, 20);
}

TEST(Ledger, IsWrittenExactly) {
  Ledger ledger;
  ledger.runs = 2;
  ledger.Of(LedgerRow::kKept) = DeviceNs{7'200} * kNs + 1;
  ledger.Of(LedgerRow::kShip) = DeviceNs{1'800} * kNs;
  ledger.Of(LedgerRow::kActive) = DeviceNs{1'800} * kNs;
  ledger += ledger;
  EXPECT_EQ(ledger.runs, 4U);
  const std::string text = JsonOf<LedgerForms>(PrintedOf(ledger, "device"), 2);
  EXPECT_NE(text.find("\"productive_kept\": 14400.000000002"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["rows"]["unknown"], 3600.0);
  EXPECT_EQ(json["unknown"]["active"], 3600.0);
  EXPECT_EQ(json["counts"], "device");
  EXPECT_EQ(LedgerText(ledger, "device"),
            "ledger of 4 runs, in device hours\n"
            "  starting                        1.0000   16.7 %\n"
            "    ship                          1.0000   16.7 %\n"
            "  productive kept                 4.0000   66.7 %\n"
            "  unknown                         1.0000   16.7 %\n"
            "    active                        1.0000   16.7 %\n"
            "  total                           6.0000\n");
}

TEST(Ledger, IsPrintedInAUnitOfWhichItHasOne) {
  const auto printed = [](std::uint64_t kept, std::uint64_t lost) {
    Ledger ledger;
    ledger.runs = 1;
    ledger.Of(LedgerRow::kKept) = kept;
    ledger.Of(LedgerRow::kLost) = lost;
    return LedgerText(ledger, "device");
  };
  EXPECT_EQ(printed(3'599 * kNs, 1 * kNs),
            "ledger of 1 run, in device hours\n"
            "  productive kept                 0.9997  100.0 %\n"
            "  productive lost                 0.0003    0.0 %\n"
            "  total                           1.0000\n");
  EXPECT_EQ(printed(3'599 * kNs, 2'000'000),
            "ledger of 1 run, in device seconds\n"
            "  productive kept               3599.000  100.0 %\n"
            "  productive lost                  0.002    0.0 %\n"
            "  total                         3599.002\n");
  EXPECT_EQ(printed(40'000'000, 10'000'500),
            "ledger of 1 run, in device milliseconds\n"
            "  productive kept                 40.000   80.0 %\n"
            "  productive lost                 10.001   20.0 %\n"
            "  total                           50.001\n");
}

TEST(Ledger, MarksWhatDrillsHaveUsed) {
  const auto run = [](bool drill, bool fault) {
    WrittenJournal journal(TwoWorkers());
    RunBegan began;
    began.drill = drill;
    journal.Say(0, began);
    journal.Say(2, AgentConnected{0, 1, 1, "n", {}, "", 0, 0}).Say(5, PlanBound{"/r", {}, {}, {}}).Start(10, 0);
    if (fault) journal.Say(20, FaultInjected{});
    return journal.Exit(100, 0, 0, 3).Exit(100, 1, 0, 3).End(100, 102, Cause::kFailed).Run();
  };
  EXPECT_EQ(LedgersOf(std::vector{run(false, false)}).front().drills, 0U);
  EXPECT_EQ(LedgersOf(std::vector{run(false, true)}).front().drills, 1U) << "a journal of before drills were marked";
  const Ledger drill = LedgersOf(std::vector{run(true, true)}).front();
  EXPECT_EQ(drill.drilled, drill.rows);
  const std::string alone = LedgerText(drill, "device");
  EXPECT_EQ(alone.find("ledger of 1 drill, in device"), 0U) << alone;
  EXPECT_EQ(alone.find("in drills"), std::string::npos) << alone;

  const Ledger both = LedgerOf(std::vector{run(false, false), run(true, true)}).devices;
  EXPECT_EQ(both.Of(LedgerRow::kLost), 2 * drill.Of(LedgerRow::kLost));
  EXPECT_EQ(both.drilled, drill.rows);
  const std::string text = LedgerText(both, "device");
  EXPECT_EQ(text.find("ledger of 2 runs, 1 of them a drill, in device"), 0U) << text;
  EXPECT_NE(text.find("  productive lost                356.000   87.3 %   178.000 in drills\n"), std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(JsonOf<LedgerForms>(PrintedOf(both, "device"), 2));
  EXPECT_EQ(json["runs"], 2);
  EXPECT_EQ(json["drills"]["runs"], 1);
  EXPECT_EQ(json["drills"]["rows"]["productive_lost"], 178.0);
  EXPECT_EQ(json["drills"]["total"], 204.0);
  const auto without = nlohmann::json::parse(
      JsonOf<LedgerForms>(PrintedOf(LedgersOf(std::vector{run(false, false)}).front(), "device"), 2));
  EXPECT_FALSE(without.contains("drills"));
}

}  // namespace
}  // namespace muster
