// Tests faults of drills as texts, what is refused before anything starts, and how failures are judged that other
// processes notice first.
#include "run/simulate/drill.h"

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"

namespace muster {
namespace {

std::string ErrorOf(const std::string& text) {
  const auto fault = ParseDrillFault(text);
  return fault ? "" : fault.error();
}
bool Says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(DrillFault, IsReadFromItsText) {
  EXPECT_EQ(ParseDrillFault("kill:worker:3@12s").value(), (DrillFault{FaultKind::kKill, "worker:3", 12, 0}));
  EXPECT_EQ(ParseDrillFault("stop:worker.1@2m+500ms").value(), (DrillFault{FaultKind::kStop, "worker.1", 120, 0.5}));
  EXPECT_EQ(ParseDrillFault("cut:n2@1s+30s").value(), (DrillFault{FaultKind::kCut, "n2", 1, 30}));
  EXPECT_EQ(ParseDrillFault("head@1m").value(), (DrillFault{FaultKind::kHead, "", 60, 0}));
  EXPECT_EQ(DrillFaultText(ParseDrillFault("slow:n1@3s+2s").value()), "slow n1 for 2.0 s");
  EXPECT_EQ(ParseDrillFault("disk:n2:/mnt/small@20s+10s").value(),
            (DrillFault{FaultKind::kDisk, "n2:/mnt/small", 20, 10}));
  EXPECT_EQ(ParseDrillFault("preempt@1m").value(), (DrillFault{FaultKind::kPreempt, "", 60, 0}));
  EXPECT_EQ(ParseDrillFault("exception:worker:1@40steps").value(),
            (DrillFault{FaultKind::kException, "worker:1", 0, 0, 40}));
  EXPECT_EQ(DrillFaultText(ParseDrillFault("memory:worker.1@40steps").value()), "memory worker.1 at step 40");
}

TEST(DrillFault, IsRefusedWithTheReason) {
  EXPECT_TRUE(Says(ErrorOf("kill:worker:3"), "its time is missing"));
  EXPECT_TRUE(Says(ErrorOf("explode:n1@3s"), "there are kill, stop, slow, agent, cut, head, disk, preempt"));
  EXPECT_TRUE(Says(ErrorOf("kill@3s"), "its target is missing"));
  EXPECT_TRUE(Says(ErrorOf("head:n1@3s"), "the head has no target"));
  EXPECT_TRUE(Says(ErrorOf("kill:worker:1@3s+2s"), "it lasts for good"));
  EXPECT_TRUE(Says(ErrorOf("slow:n1@3s"), "how long it lasts is missing"));
  EXPECT_TRUE(Says(ErrorOf("stop:n1@3s+x"), "how long it lasts is no time"));
  EXPECT_TRUE(Says(ErrorOf("disk:n1@3s+1s"), "the folder of a disk begins with /"));
  EXPECT_TRUE(Says(ErrorOf("disk:/mnt/small@3s"), "how long it lasts is missing"));
  EXPECT_TRUE(Says(ErrorOf("timelimit:n1@3s"), "the head has no target"));
  EXPECT_TRUE(Says(ErrorOf("kill:worker:1@40steps"), "only stubs have defects"));
  EXPECT_TRUE(Says(ErrorOf("exit:worker:1@-4steps"), "its step is no number"));
}

DrillPlace Here(const Plan& plan) { return {&plan, {}, {}, false, 0}; }
DrillPlace OverSsh(const Plan& plan) { return {&plan, {{"n1", {}, {}}, {"n2", {}, {}}}, {{"n3", {}, {}}}, true, 10}; }
std::vector<std::string> Problems(const std::string& fault, const DrillPlace& place) {
  const auto checked = CheckFaults({ParseDrillFault(fault).value()}, place);
  std::vector<std::string> problems;
  if (!checked) {
    for (const Diagnostic& problem : checked.error()) problems.push_back(problem.message);
  }
  return problems;
}

TEST(DrillFaults, GetTheNamesOfProcessesAndHostsAndAreOrderedByTime) {
  const Plan plan = SamplePlan({{"worker", 4}}, 2);
  const auto faults =
      CheckFaults({*ParseDrillFault("agent:host1@5s"), *ParseDrillFault("kill:worker:3@2s")}, OverSsh(plan));
  ASSERT_TRUE(faults);
  EXPECT_EQ(*faults, (std::vector<DrillFault>{{FaultKind::kKill, "worker.3", 2, 0}, {FaultKind::kAgent, "n2", 5, 0}}));
  const Plan alone = SamplePlan({{"worker", 1}}, 1);
  EXPECT_EQ(CheckFaults({*ParseDrillFault("agent:localhost@5s")}, Here(alone))->front().target, "host0");
}

TEST(DrillFaults, OfAHostAreThoseOfItsDiskOrOfAProcessThere) {
  const Plan plan = SamplePlan({{"worker", 4}}, 2);
  DrillPlace place = OverSsh(plan);
  place.stubs = true;
  const auto target = [&](const std::string& text) {
    const auto faults = CheckFaults({*ParseDrillFault(text)}, place);
    return faults ? faults->front().target : "refused: " + faults.error().front().message;
  };
  EXPECT_EQ(target("disk:/mnt/small@1s+1s"), "n1:/mnt/small") << "the first host";
  EXPECT_EQ(target("disk:host1:/mnt/small@1s+1s"), "n2:/mnt/small");
  EXPECT_EQ(target("disk:n9:/mnt/small@1s+1s"), "refused: the run has no host \"n9\"");
  EXPECT_EQ(target("exception:n2@1s"), "n2");
  EXPECT_EQ(target("exception:worker:3@7steps"), "worker.3");
  EXPECT_EQ(target("exception:n2@7steps"), "refused: there is no process \"n2\"") << "a defect is one of a process";
}

TEST(DrillFaults, AreRefusedWhereTheyCannotBeInjected) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Problems("kill:worker:4@1s", Here(plan)), Texts{"there is no process \"worker:4\""});
  EXPECT_EQ(Problems("agent:n9@1s", OverSsh(plan)), Texts{"the run has no host \"n9\""});
  EXPECT_EQ(Problems("stop:worker:1@1s", Here(plan)),
            Texts{"stop worker.1: it would hang for ever: the recipe has no limit of silence"});
  EXPECT_EQ(Problems("cut:host0@1s+2s", Here(plan)),
            Texts{"cut host0 for 2.0 s: only connections over ssh can be held"});
  EXPECT_EQ(Problems("cut:n1@1s+9s", OverSsh(plan)).size(), 1U) << "near to the heartbeat timeout of 10 s";
  EXPECT_EQ(Problems("cut:n1@1s+5s", OverSsh(plan)), Texts{});
  EXPECT_EQ(Problems("cut:n1@1s+15s", OverSsh(plan)), Texts{});
  EXPECT_EQ(Problems("exit:worker:1@1s", Here(plan)), Texts{"exit worker.1: only a stub fails at a word"});
  DrillPlace stubs = Here(plan);
  stubs.stubs = true;
  EXPECT_EQ(Problems("exit:worker:1@1s", stubs), Texts{});
  EXPECT_EQ(Problems("hang:worker:1@1s", stubs),
            Texts{"hang worker.1: it would hang for ever: the recipe has no limit of silence"});
  plan.roles[0].limits.silent_ms = 8'000;
  EXPECT_EQ(Problems("stop:worker:1@1s", Here(plan)), Texts{});
  EXPECT_EQ(Problems("stop:worker:1@1s+6s", Here(plan)).size(), 1U) << "near to the limit of silence";
  EXPECT_EQ(Problems("stop:worker:1@1s+4s", Here(plan)), Texts{});
}

TEST(DrillFaults, OfATraceKillAProcessOfTheHostOrItsAgent) {
  const Plan plan = SamplePlan({{"worker", 4}}, 2);
  const std::vector<SimulatedFailure> failures = {{1, 0, 0}, {2, 1, 0}, {3, 1, 60}, {4, 7, 0}};
  const auto faults = FaultsOf(failures, plan, 1);
  ASSERT_EQ(faults.size(), 3U) << "there is no host 7";
  const auto host_of = [&](const DrillFault& fault) {
    for (const Process& process : plan.processes) {
      if (ProcessName(plan, process) == fault.target) return process.host;
    }
    return ~0U;
  };
  EXPECT_EQ(host_of(faults[0]), 0U);
  EXPECT_EQ(host_of(faults[1]), 1U);
  EXPECT_EQ(faults[2], (DrillFault{FaultKind::kAgent, plan.hosts[1].label, 3, 0}));
  EXPECT_EQ(FaultsOf(failures, plan, 1), faults) << "the same for the same seed";
}

// worker.0 on host0 is killed, or host0 is cut off; worker.1 loses its peer and fails first, and worker.0 reports
// steps.
class JudgedByPeers : public ::testing::Test {
 protected:
  JudgedByPeers() {
    plan_.roles[0].restart.max = 5;
    plan_.roles[0].restart.scope = RestartPolicy::Scope::kJob;
    plan_.roles[0].restart.backoff_ms = 100;
    for (const ProcessId process : {0U, 1U}) {
      Add(0, StartOrdered{process, 0});
      Add(0.1, ProcessStarted{process, 0, 1, 1, 0});
    }
  }
  template <class Entry>
  void Add(double at, Entry entry) {
    records_.push_back({records_.size(), {}, static_cast<MonotonicNs>((at + 1) * 1e9), std::move(entry)});
  }
  void FailsWithRestart(double at, const std::string& checkpoint, std::uint32_t attempt = 0) {
    Add(at, ProcessExited{1, attempt, false, 1});
    FailureJudged judged;
    judged.process = 1;
    judged.attempt = attempt;
    judged.host = 1;
    judged.host_name = "host1";
    judged.failure_class = judged.fingerprint = judged.what = "exit";
    judged.checkpoint = checkpoint;
    judged.ready = true;
    judged.rule = kNoVerdictRule;
    Add(at, judged);
    Add(at, RestartPlanned{1, attempt, "job", {0, 1}, attempt + 1, 5, 100U << attempt, "worker.1 exited with code 1"});
    Add(at, StopOrdered{{0}, SIGTERM, 10'000});
  }
  void StartsAgain(double at) {
    Add(at, ProcessExited{0, 0, true, SIGKILL});
    for (const ProcessId process : {0U, 1U}) {
      Add(at, StartOrdered{process, 1});
      Add(at, ProcessStarted{process, 1, 1, 1, 0});
    }
  }
  JudgedDrill Judge(double again_from, const std::vector<std::string>& checkpoints = {}, double begun = 1) const {
    const DrillEvidence evidence{[=](ProcessId process, std::uint32_t attempt) -> std::optional<ReportedSteps> {
                                   if (process == 1) return std::nullopt;
                                   return ReportedSteps{attempt == 0 ? begun : again_from, 1, 37};
                                 },
                                 checkpoints};
    return JudgeDrill({&plan_, {}, {}, true, 10}, records_, evidence, DefaultVerdictRules(), false);
  }

  Plan plan_ = SamplePlan({{"worker", 2}}, 2);
  std::vector<JournalRecord> records_;
};

TEST_F(JudgedByPeers, AKillIsNoticed) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "step_30");
  StartsAgain(5);
  const JudgedDrill judged = Judge(31);
  ASSERT_EQ(judged.rows.size(), 2U) << "the fault, and the end";
  EXPECT_EQ(judged.rows[0].fault, "kill worker.0 on host0, by worker.1");
  EXPECT_TRUE(judged.rows[0].ok) << judged.rows[0].happened;
  EXPECT_EQ(judged.rows[0].expected, "restart 1 of 5: the job");
  EXPECT_EQ(judged.rows[0].happened, judged.rows[0].expected);
  EXPECT_EQ(judged.rows[0].lost, 7) << "31 to 37, of the process that reports steps";
  EXPECT_EQ(judged.as_simulated, 1U);
  EXPECT_EQ(judged.rows[0].checkpoint, CheckpointUse::kNewest);
  const JudgedDrill from_scratch = Judge(1);
  EXPECT_FALSE(from_scratch.rows[0].ok);
  EXPECT_EQ(from_scratch.rows[0].checkpoint, CheckpointUse::kNone);
  EXPECT_TRUE(Says(from_scratch.rows[0].happened, "it began again at step 1, and not from step_30"));
}

// Its exit, after the simulation has started it again, is no failure.
TEST_F(JudgedByPeers, AProcessMayBeStoppedBeforeItIsSeenToHaveStarted) {
  FailsWithRestart(4, "");
  Add(4.1, ProcessExited{0, 0, true, SIGTERM});
  for (const ProcessId process : {0U, 1U}) Add(4.1, StartOrdered{process, 1});
  Add(4.11, ProcessStarted{1, 1, 1, 1, 0});
  FailsWithRestart(4.12, "", 1);
  Add(4.13, ProcessStarted{0, 1, 1, 1, 0});
  Add(4.5, ProcessExited{0, 1, true, SIGTERM});
  for (const ProcessId process : {0U, 1U}) {
    Add(4.5, StartOrdered{process, 2});
    Add(4.51, ProcessStarted{process, 2, 1, 1, 0});
  }
  FailsWithRestart(5, "", 2);
  const JudgedDrill drill = Judge(1);
  EXPECT_EQ(drill.decisions, 3U);
  EXPECT_EQ(drill.as_simulated, 3U);
}

TEST_F(JudgedByPeers, ARestartFromAnOlderCheckpointIsWrong) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "/c/step_30");
  StartsAgain(5);
  const std::vector<std::string> there = {"/c/step_10", "/c/step_20", "/c/step_30", "/c/step_40"};
  const JudgedDrill older = Judge(21, there);
  EXPECT_FALSE(older.rows[0].ok);
  EXPECT_EQ(older.rows[0].checkpoint, CheckpointUse::kOlder);
  EXPECT_TRUE(
      Says(older.rows[0].happened, "it continued from /c/step_20, and not from the newest checkpoint /c/step_30"))
      << older.rows[0].happened;
  const JudgedDrill newest = Judge(31, there);
  EXPECT_TRUE(newest.rows[0].ok) << newest.rows[0].happened;
  EXPECT_EQ(newest.rows[0].checkpoint, CheckpointUse::kNewest);
  const JudgedDrill elsewhere = Judge(26, there);
  EXPECT_TRUE(elsewhere.rows[0].ok);
  EXPECT_EQ(elsewhere.rows[0].checkpoint, CheckpointUse::kUnknown);
}

TEST_F(JudgedByPeers, ACheckpointThatCameBeforeTheRestartIsTheNewest) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "/c/step_30");
  Add(4.9, CheckpointSeen{"/c/step_36", {}, 100});
  StartsAgain(5);
  EXPECT_EQ(Judge(31).rows[0].checkpoint, CheckpointUse::kOlder);
  EXPECT_EQ(Judge(37).rows[0].checkpoint, CheckpointUse::kNewest);
}

TEST_F(JudgedByPeers, ARestartOfAResumedRunMayBeginWhereTheRunDid) {
  Add(0.05, CheckpointSeen{"/before/step_30", "a1b2", 100});
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "/before/step_30");
  StartsAgain(5);
  EXPECT_EQ(Judge(31, {}, 31).rows[0].checkpoint, CheckpointUse::kNewest);
  EXPECT_EQ(Judge(1, {}, 31).rows[0].checkpoint, CheckpointUse::kNone);
}

TEST_F(JudgedByPeers, WithoutACheckpointNothingIsJudged) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "");
  StartsAgain(5);
  EXPECT_EQ(Judge(1).rows[0].checkpoint, std::nullopt);
}

// How a process continued whose first step is `first` and whose reports are `interval` apart, after it had come to 100.
CheckpointUse UseOf(const std::string& latest, const std::vector<std::string>& known, double first,
                    double interval = 1) {
  CheckpointPlace place;
  place.latest = latest;
  return JudgeContinuation(place, known.back(), known, {first, interval, first}, {1, interval, 100}, 1).use;
}

TEST(Continuation, IsKnownIfNamesOfCheckpointsHaveTheStep) {
  using Use = CheckpointUse;
  const std::vector<std::string> plain = {"/r/17/step_40.pt", "/r/17/step_80.pt"};
  EXPECT_EQ(UseOf("step_*.pt", plain, 80), Use::kNewest) << "steps from 0, named by their number";
  EXPECT_EQ(UseOf("step_*.pt", plain, 81), Use::kNewest);
  EXPECT_EQ(UseOf("step_*.pt", plain, 41), Use::kOlder);
  EXPECT_EQ(UseOf("step_*.pt", plain, 83), Use::kUnknown);
  EXPECT_EQ(UseOf("step_*.pt", plain, 1), Use::kNone);
  EXPECT_EQ(UseOf("epoch_*/step_*", {"/r/epoch_1/step_40", "/r/epoch_2/step_80"}, 81), Use::kNewest);
  EXPECT_EQ(UseOf("step_*.pt", plain, 100, 20), Use::kNewest) << "it reports every 20 steps";
  EXPECT_EQ(UseOf("step_*.pt", plain, 60, 20), Use::kOlder);
  EXPECT_EQ(UseOf("step_*.pt", plain, 90, 50), Use::kUnknown) << "either may be the one";
}

TEST(Continuation, IsNotKnownIfNamesSaySomethingElse) {
  using Use = CheckpointUse;
  EXPECT_EQ(UseOf("last.pt", {"/runs/81/last.pt"}, 81), Use::kUnknown) << "the number is that of a folder";
  EXPECT_EQ(UseOf("epoch_*", {"/r/epoch_1", "/r/epoch_2"}, 81), Use::kUnknown);
  EXPECT_EQ(UseOf("tokens_*", {"/r/tokens_50", "/r/tokens_8000"}, 50), Use::kUnknown) << "8000 is no step so far";
  EXPECT_EQ(UseOf("t_*", {"/r/t_99999999999999999999999"}, 81), Use::kUnknown);
  EXPECT_EQ(UseOf("", {""}, 81), Use::kUnknown);
}

TEST_F(JudgedByPeers, AnEarlierFaultOfTheProcessIsNotTheCause) {
  Add(1, FaultInjected{FaultKind::kStop, "worker.1", 0, "host1", 1'000});
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "");
  StartsAgain(5);
  const JudgedDrill judged = Judge(31);
  ASSERT_EQ(judged.rows.size(), 3U);
  EXPECT_EQ(judged.rows[0].happened, "the run goes on");
  EXPECT_TRUE(judged.rows[0].ok) << judged.rows[0].expected;
  EXPECT_TRUE(judged.rows[1].ok) << judged.rows[1].fault << ": " << judged.rows[1].happened;
}

TEST_F(JudgedByPeers, AKillThatNobodyNoticesIsWrong) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  const JudgedDrill judged = Judge(31);
  EXPECT_FALSE(judged.rows[0].ok);
  EXPECT_EQ(judged.rows[0].expected, "it is noticed");
}

TEST_F(JudgedByPeers, ARestartForWhichTheRunIsStoppedTooSoonIsNotMissed) {
  Add(4, FaultInjected{FaultKind::kKill, "worker.0", 0, "host0", 0});
  FailsWithRestart(4.004, "step_30");
  Add(4.05, ProcessExited{0, 0, true, SIGKILL});
  Add(4.06, StopRequested{});
  Add(4.1, RunEnded{Cause::kStopped, 143, "asked to stop", 0, 0});
  const JudgedDrill judged = Judge(31);
  EXPECT_TRUE(judged.rows[0].ok) << judged.rows[0].happened;
  EXPECT_EQ(judged.rows[0].happened, "restart 1 of 5: the job; the run was stopped before it took place");
}

TEST(DrillOfAnEarlyEnd, SaysWhyNothingWasStarted) {
  const Plan plan = SamplePlan({{"worker", 1}}, 1);
  std::vector<JournalRecord> records;
  records.push_back({0, {}, 23'000'000'000'000, RunEnded{Cause::kFailed, 1, "devices are held", 0, 0}});
  const DrillEvidence evidence{[](ProcessId, std::uint32_t) { return std::optional<ReportedSteps>(); }, {}};
  const JudgedDrill judged = JudgeDrill({&plan, {}, {}, true, 10}, records, evidence, DefaultVerdictRules(), false);
  ASSERT_EQ(judged.rows.size(), 1U);
  EXPECT_EQ(judged.rows[0].at, 0);
  EXPECT_EQ(judged.rows[0].happened, "failed, exit code 1; devices are held");
}

TEST(DrillOfAProgramThatCannotBeStarted, EndsAsTheSimulation) {
  const Plan plan = SamplePlan({{"worker", 1}}, 1);
  std::vector<JournalRecord> records;
  const auto add = [&](auto entry) {
    records.push_back({records.size(), {}, 1'000'000'000 + records.size(), std::move(entry)});
  };
  add(StartOrdered{0, 0});
  add(SpawnFailed{0, 0, "exec", ENOENT, "/no/program", 0});
  FailureJudged judged_failure;
  judged_failure.host_name = "host0";
  judged_failure.failure_class = judged_failure.fingerprint = judged_failure.what = "spawn";
  judged_failure.rule = kNoVerdictRule;
  add(judged_failure);
  add(RunEnded{Cause::kSpawn, 3, "worker.0 could not be started", 0, 0});
  const DrillEvidence evidence{[](ProcessId, std::uint32_t) { return std::optional<ReportedSteps>(); }, {}};
  const JudgedDrill judged = JudgeDrill({&plan, {}, {}, true, 10}, records, evidence, DefaultVerdictRules(), false);
  ASSERT_FALSE(judged.rows.empty());
  EXPECT_TRUE(judged.rows.back().ok) << judged.rows.back().expected;
}

// The run cannot stop worker.0, whose host does not answer, and the host is lost before the restart.
TEST_F(JudgedByPeers, ACutEndsTheRun) {
  Add(4, FaultInjected{FaultKind::kCut, "", 0, "host0", 16'000});
  FailsWithRestart(10, "");
  Add(14, AgentLost{0, "no heartbeat for 10 s", 0});
  Add(14, RunEnded{Cause::kLost, 3, "the agent of host0 was lost", 0, 0});
  const JudgedDrill judged = Judge(31);
  EXPECT_EQ(judged.rows[0].happened, "restart 1 of 5: the job; the run ends");
  EXPECT_TRUE(judged.rows[0].ok) << judged.rows[0].expected;
}

}  // namespace
}  // namespace muster
