// Tests lost hosts, spares that replace them, and the order of failures on several hosts by their clocks.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

using Scope = RestartPolicy::Scope;
using Spares = std::vector<SiteHost>;

const Spares kOne = {{"s1", "", 0}};
const Spares kTwo = {{"s1", "", 0}, {"s2", "", 0}};

// Workers 0 and 2 are on host 0, 1 and 3 on host 1.
Plan Workers(Scope scope, std::uint32_t max = 2) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);
  plan.roles[0].restart.max = max;
  plan.roles[0].restart.scope = scope;
  plan.roles[0].restart.backoff_ms = 100;
  return plan;
}

Event Lost(std::uint32_t machine) { return AgentLost{machine, "cut", 0}; }
Event Replaced(std::uint32_t host, std::uint32_t by, const std::string& error = {}) {
  return HostReplaced{host, by, "s", "", {}, {}, {}, error};
}
Event DelayOver(std::uint64_t renewal = 0) { return DeadlinePassed{kRenewalTimers + renewal}; }

TEST(LostHost, IsReplacedAndItsProcessesRestart) {
  RunningJob job(Workers(Scope::kProcess), kOne);
  EXPECT_EQ(job(Lost(1)), (Lines{"restart 1 of process for 1 3 in 100", "replace 1 by 2"}));
  EXPECT_EQ(job(DelayOver()), Lines{}) << "the spare is not ready yet";
  EXPECT_EQ(job(Replaced(1, 2)), (Lines{"start 1 attempt 1", "start 3 attempt 1"}));
  EXPECT_EQ(job.supervisor.slots().machine(1), 2U);
  job(Started(1, 1)), job(Started(3, 1));
  EXPECT_EQ(job(Exited(1, 0, 1)), Lines{});
  job(Exited(3, 0, 1)), job(Exited(0));
  EXPECT_EQ(job(Exited(2)), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job(Empty(2)), (Lines{"-> done", "end"})) << "the lost one attests nothing";
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 0);
}

TEST(LostHost, MayBeReplacedBeforeThePauseIsOver) {
  RunningJob job(Workers(Scope::kProcess), kOne);
  job(Lost(1));
  EXPECT_EQ(job(Replaced(1, 2)), Lines{});
  EXPECT_EQ(job(DelayOver()), (Lines{"start 1 attempt 1", "start 3 attempt 1"}));
}

TEST(LostHost, RestartsItsRoleOrTheJobAccordingToTheScope) {
  RunningJob job(Workers(Scope::kRole), kOne);
  EXPECT_EQ(job(Lost(1)), (Lines{"restart 1 of role for 0 1 2 3 in 100", "stop 0 2 grace 10000", "replace 1 by 2"}));
  job(Replaced(1, 2)), job(DelayOver());
  EXPECT_EQ(job(Killed(0, SIGTERM)), Lines{});
  EXPECT_EQ(job(Killed(2, SIGTERM)),
            (Lines{"start 0 attempt 1", "start 1 attempt 1", "start 2 attempt 1", "start 3 attempt 1"}));
}

TEST(LostHost, RestartsProcessesThatUseItsAddress) {
  Plan plan = Workers(Scope::kProcess);
  plan.roles[0].env["MEET"] = Text("${muster:host_address:1}");
  RunningJob job(plan, kOne);
  EXPECT_EQ(job(Lost(1)), (Lines{"restart 1 of job for 0 1 2 3 in 100", "stop 0 2 grace 10000", "replace 1 by 2"}));
  RunningJob other(plan, kOne);
  EXPECT_EQ(other(Lost(0)), (Lines{"restart 1 of process for 0 2 in 100", "replace 0 by 2"}))
      << "nobody was told where host 0 is";
}

TEST(LostHost, RestartsTheJobIfAFileNamesIt) {
  Plan plan = Workers(Scope::kProcess);
  plan.files["hosts.txt"] = {Text("${muster:host_name:0}\n")};
  RunningJob job(plan, kOne);
  EXPECT_EQ(job(Lost(0)).front(), "restart 1 of job for 0 1 2 3 in 100");
}

TEST(LostHost, StopsTheJobWithoutARestartOrASpare) {
  RunningJob none(Workers(Scope::kProcess, 0), kOne);
  EXPECT_EQ(none(Lost(1)), (Lines{"-> stopping", "stop 0 2 grace 10000"}));
  EXPECT_EQ(none.supervisor.Ended(false), (RunEnded{Cause::kLost, 3, "the agent of host1 was lost: cut"}));

  RunningJob alone(Workers(Scope::kProcess));
  EXPECT_EQ(alone(Lost(1)), (Lines{"-> stopping", "stop 0 2 grace 10000"}));
  EXPECT_EQ(alone.supervisor.Ended(false).why,
            "the agent of host1 was lost: cut, and there is no spare host to replace it");

  Plan plan = Workers(Scope::kProcess);
  plan.hosts[1].devices = 8;
  RunningJob small(plan, {{"s1", "", 4}});
  small(Lost(1));
  EXPECT_EQ(small.supervisor.Ended(false).why,
            "the agent of host1 was lost: cut, and no spare host has 8 devices, as it had");
}

TEST(LostHost, StopsTheJobIfOneOfItsRolesHasNoRestart) {
  Plan plan = SamplePlan({{"worker", 2}, {"server", 2, Ending::kNever}}, 2);
  plan.roles[0].restart.max = 1;
  RunningJob job(plan, kOne);
  job(Lost(1));
  EXPECT_EQ(job.supervisor.Ended(false).why, "the agent of host1 was lost: cut, and role server is not started again");
  plan.roles[0].restart.scope = Scope::kJob;
  RunningJob whole(plan, kOne);
  EXPECT_EQ(whole(Lost(1)).front(), "restart 1 of job for 0 1 2 3 in 1000") << "the whole job covers the server";
}

TEST(LostHost, UsesOneRestartOfEachRoleThatRanThere) {
  Plan plan = SamplePlan({{"worker", 4}, {"server", 2, Ending::kNever}}, 2);
  for (Role& role : plan.roles) role.restart.max = 1;
  RunningJob job(plan, kTwo);
  EXPECT_EQ(job(Lost(1)),
            (Lines{"restart 1 of process for 1 3 in 1000", "restart 1 of process for 5 in 1000", "replace 1 by 2"}));
  job(Replaced(1, 2)), job(DelayOver(0)), job(DelayOver(1));
  EXPECT_EQ(job(Lost(2)).front(), "-> stopping");
  EXPECT_NE(job.supervisor.Ended(false).why.find("the only restart of role worker is used up"), std::string::npos);
}

TEST(LostHost, MayBeASpareThatReplacedAnotherHost) {
  RunningJob job(Workers(Scope::kProcess), kTwo);
  job(Lost(1));
  EXPECT_EQ(job(Lost(2)), Lines{"replace 1 by 3"}) << "while it was made ready: no restart more";
  EXPECT_EQ(job(Replaced(1, 2)), Lines{}) << "too late";
  job(DelayOver());
  EXPECT_EQ(job(Replaced(1, 3)), (Lines{"start 1 attempt 1", "start 3 attempt 1"}));
}

TEST(LostHost, IsReplacedByTheNextSpareIfOneCannot) {
  RunningJob job(Workers(Scope::kProcess), kTwo);
  job(Lost(1));
  EXPECT_EQ(job(Replaced(1, 2, "its devices are taken")), Lines{"replace 1 by 3"});
  EXPECT_EQ(job(Replaced(1, 3, "so are these")).front(), "-> stopping");
  EXPECT_EQ(job.supervisor.Ended(false).why,
            "s2 cannot replace a lost host: so are these, and there is no other spare host that could");
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 3);
}

TEST(LostHost, MayBeOneOfTwoAtOnce) {
  RunningJob job(Workers(Scope::kJob), kTwo);
  EXPECT_EQ(job(Lost(1)), (Lines{"restart 1 of job for 0 1 2 3 in 100", "stop 0 2 grace 10000", "replace 1 by 2"}));
  EXPECT_EQ(job(Lost(0)), Lines{"replace 0 by 3"}) << "what ran there was on its way to begin again";
  job(DelayOver());
  EXPECT_EQ(job(Replaced(1, 2)), Lines{});
  EXPECT_EQ(job(Replaced(0, 3)),
            (Lines{"start 0 attempt 1", "start 1 attempt 1", "start 2 attempt 1", "start 3 attempt 1"}));
}

TEST(LostHost, GetsNoStartsOfAWaitingRole) {
  Plan plan = SamplePlan({{"server", 2, Ending::kNever}, {"worker", 2}}, 2);
  plan.roles[0].ready.kind = Readiness::Kind::kPort;
  plan.roles[0].restart.max = 1;
  plan.roles[1].after = {0};
  Supervisor supervisor(plan, kOne);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0), supervisor.Step(Started(1), 0);
  supervisor.Step(ProcessReady{1, 0, 1}, 0);
  EXPECT_EQ(Reported(supervisor.Step(Lost(0), 0)), (Lines{"restart 1 of process for 0 in 1000", "replace 0 by 2"}));
  EXPECT_EQ(Reported(supervisor.Step(Replaced(0, 2), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(DelayOver(), 0)), Lines{"start 0 attempt 1"});
  supervisor.Step(Started(0, 1), 0);
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{0, 1, 1}, 0)), (Lines{"start 2", "start 3"}));
}

TEST(LostHost, IsIgnoredIfItIsAnUnusedSpare) {
  RunningJob job(Workers(Scope::kProcess), kOne);
  EXPECT_EQ(job(Lost(2)), Lines{});
  EXPECT_EQ(job(Lost(1)).front(), "-> stopping");
  Plan plan = Workers(Scope::kProcess);
  Supervisor before(plan, kOne);
  EXPECT_EQ(Reported(before.Step(Lost(2), 0)), (Lines{"-> finishing", "finish"})) << "before anything is started it is";
}

TEST(LostHost, DoesNotHideASilence) {
  Plan plan = Workers(Scope::kProcess);
  plan.silent_limit_ms = 400;
  RunningJob job(plan, kOne);
  EXPECT_EQ(job(DeadlinePassed{kSilenceTimer}, 100 * kMs), Lines{"ask output"});
  job(OutputSeen{0, {0, 2}, {0, 0}}, 100 * kMs);
  job(OutputSeen{2, {}, {}}, 100 * kMs);
  job(Lost(1), 150 * kMs);
  EXPECT_EQ(job(DeadlinePassed{kSilenceTimer}, 200 * kMs), Lines{"ask output"}) << "it will not answer any more";
}

// --- the order of failures ----------------------------------------------------------------------------

Event FailedAt(ProcessId process, MonotonicNs at, int code = 1) {
  ProcessExited exited;
  exited.process = process;
  exited.code = code;
  exited.at = at;
  return exited;
}

TEST(FirstFailure, IsTheEarliestByTheClocksIfCertain) {
  RunningJob job(Workers(Scope::kProcess, 0));
  job(ClockCompared{0, 0, 1 * kMs}), job(ClockCompared{1, -1'000'000 * static_cast<std::int64_t>(kMs), 2 * kMs});
  EXPECT_EQ(job(FailedAt(0, 500 * kMs)), (Lines{"origin 0", "-> stopping", "stop 1 2 3 grace 10000"}));
  EXPECT_EQ(job(FailedAt(1, 1'000'498 * kMs, 7)), Lines{}) << "2 ms before, and the order is certain only beyond 4 ms";
  EXPECT_EQ(job(FailedAt(3, 1'000'490 * kMs, 8)), Lines{"traced to 3"});
  EXPECT_EQ(job(FailedAt(2, 100 * kMs)), (Lines{"traced to 2", "-> finishing", "finish"})) << "earlier still";
  EXPECT_EQ(job.supervisor.Ended(false).why, "worker.2 exited with code 1");
}

TEST(FirstFailure, IsUnchangedWithoutClockComparisonOrAfterAStop) {
  RunningJob job(Workers(Scope::kProcess, 0));
  job(FailedAt(0, 500 * kMs));
  EXPECT_EQ(job(FailedAt(1, 100 * kMs)), Lines{});
  RunningJob reported(Workers(Scope::kProcess, 0));
  reported(ClockCompared{0, 0, 1 * kMs}), reported(ClockCompared{1, 0, 1 * kMs});
  reported(FailedAt(0, 500 * kMs));
  reported(SignalSent{1, 0, SIGTERM, 0, 600 * kMs});
  EXPECT_EQ(reported(FailedAt(1, 100 * kMs)), Lines{});
  EXPECT_EQ(reported(FailedAt(3, 100 * kMs, 0)), Lines{}) << "to end well is no failure";
}

}  // namespace
}  // namespace muster
