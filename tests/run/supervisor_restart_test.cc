// Tests roles that wait for each other, restarts, and limits.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervise/job_limits.h"
#include "run/supervise/orders.h"
#include "run/supervise/process_states.h"
#include "run/supervise/restarts.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

using Scope = RestartPolicy::Scope;

RestartPolicy Policy(std::uint32_t max, Scope scope = Scope::kProcess, std::uint32_t backoff_ms = 100) {
  RestartPolicy policy;
  policy.max = max;
  policy.scope = scope;
  policy.backoff_ms = backoff_ms;
  return policy;
}

Plan Workers(std::uint32_t count, const RestartPolicy& policy) {
  Plan plan = SamplePlan({{"worker", count}});
  plan.roles[0].restart = policy;
  return plan;
}

Event Passed(std::uint64_t timer) { return DeadlinePassed{timer}; }

// --- after and ready --------------------------------------------------------------------------------

// `b` waits for `a`, and `c` for both.
Plan Chain() {
  Plan plan = SamplePlan({{"a", 2}, {"b", 1}, {"c", 1}});
  plan.roles[1].after = {0};
  plan.roles[2].after = {0, 1};
  return plan;
}

TEST(After, StartsARoleWhenThoseBeforeItAreReady) {
  Plan plan = Chain();
  plan.roles[0].ready.kind = Readiness::Kind::kPort;
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Begin(0)), (Lines{"-> starting", "start 0", "start 1"}));
  supervisor.Step(Started(0), 0);
  EXPECT_EQ(Reported(supervisor.Step(Started(1), 0)), Lines{}) << "started is not ready";
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{0, 0, 1}, 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{1, 0, 1}, 0)), Lines{"start 2"});
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{1, 0, 1}, 0)), Lines{}) << "told twice";
  EXPECT_EQ(Reported(supervisor.Step(Started(2), 0)), Lines{"start 3"});
  EXPECT_EQ(Reported(supervisor.Step(Started(3), 0)), Lines{"-> running"});
}

TEST(After, WaitsForTheEndOfAPreparingRole) {
  Plan plan = SamplePlan({{"prepare", 1}, {"worker", 1}});
  plan.roles[0].ready.kind = Readiness::Kind::kDone;
  plan.roles[1].after = {0};
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  EXPECT_EQ(Reported(supervisor.Step(Started(0), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Exited(0), 0)), Lines{"start 1"});
}

TEST(After, AProcessThatExitsBeforeItIsReadyHasFailed) {
  Plan plan = SamplePlan({{"server", 1}, {"worker", 1}});
  plan.roles[0].ready.kind = Readiness::Kind::kPort;
  plan.roles[1].after = {0};
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0);
  EXPECT_EQ(Reported(supervisor.Step(Exited(0), 0)), (Lines{"origin 0", "-> stopping", "-> finishing", "finish"}));
  supervisor.Step(Empty(0), 0);
  EXPECT_EQ(supervisor.Ended(true).exit_code, 1);
  EXPECT_EQ(supervisor.Ended(true).why,
            "server.0 exited with code 0 before it was ready, and role worker waits for it");
}

TEST(Ready, HasALimitPerProcessAndOneForTheJob) {
  Plan plan = Chain();
  plan.roles[0].ready = {Readiness::Kind::kLine, "up", {}, 1'000, 500};
  plan.start_limit_ms = 5'000;
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Begin(0), true), (Lines{"-> starting", "arm 4 at 5000", "start 0", "start 1"}));
  EXPECT_EQ(Reported(supervisor.Step(Started(0), 10 * kMs), true),
            Lines{"arm " + std::to_string(kReadyTimers) + " at 510"});
  supervisor.Step(Started(1), 10 * kMs);
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{1, 0, 1}, 20 * kMs), true),
            Lines{"disarm " + std::to_string(kReadyTimers + 1)});
  EXPECT_EQ(Reported(supervisor.Step(Passed(kReadyTimers), 510 * kMs)),
            (Lines{"limit ready passed by 0", "origin 0", "-> stopping", "stop 0 1 grace 10000"}));
  EXPECT_EQ(supervisor.Ended(false).why, "a.0 was not ready within 500 ms");

  Supervisor slow(plan);
  slow.Begin(0);
  slow.Step(Started(0), 0);
  EXPECT_EQ(Reported(slow.Step(Passed(kStartTimer), 5'000 * kMs)), (Lines{"-> stopping", "stop 0 1 grace 10000"}));
  EXPECT_EQ(slow.Ended(false).why, "not everything was ready within 5.0 s: a.0 and 3 more were not");
  EXPECT_EQ(slow.Ended(false).exit_code, 1);
}

TEST(StartOrder, DecrementsWhenAProcessIsNoLongerReady) {
  const Plan plan = Chain();
  StartOrder order(plan);
  EXPECT_TRUE(order.MayStart(0));
  EXPECT_FALSE(order.MayStart(1));
  order.SetReady(0);
  EXPECT_EQ(order.SetReady(1), std::vector<std::uint32_t>{1});
  order.SetUnready(0);
  EXPECT_FALSE(order.MayStart(1));
  EXPECT_EQ(order.SetReady(0), std::vector<std::uint32_t>{1});
  EXPECT_EQ(order.SetReady(2), std::vector<std::uint32_t>{2});
  EXPECT_EQ(order.AwaitedBy(2), std::nullopt);
  order.SetUnready(2);
  EXPECT_EQ(order.AwaitedBy(2), 2U);
  EXPECT_EQ(order.AwaitedBy(3), std::nullopt);
}

// --- endings ----------------------------------------------------------------------------------------

TEST(Endings, AnyIsDoneWithTheFirstSuccess) {
  RunningJob job(SamplePlan({{"racer", 3, Ending::kAny, 1'000, 0}}));
  EXPECT_EQ(job(Exited(1)), Lines{"-> lingering"});
  EXPECT_EQ(job(Passed(kLingerTimers)), Lines{"stop 0 2 grace 1000"});
  EXPECT_EQ(job(Killed(0, SIGTERM)), Lines{});
  EXPECT_EQ(job(Exited(2)), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 0);
}

TEST(Endings, AnyDoesNotIgnoreAFailure) {
  RunningJob job(SamplePlan({{"racer", 2, Ending::kAny}}));
  EXPECT_EQ(job(Exited(1, 3)), (Lines{"origin 1", "-> stopping", "stop 0 grace 10000"}));
}

TEST(Endings, AnyWaitsForTheRolesThatMustAllEnd) {
  RunningJob job(SamplePlan({{"racer", 2, Ending::kAny}, {"worker", 1}}));
  EXPECT_EQ(job(Exited(0)), Lines{});
  EXPECT_EQ(job(Exited(1)), Lines{});
  EXPECT_EQ(job(Exited(2)), (Lines{"-> finishing", "finish"}));
}

// --- restarts ---------------------------------------------------------------------------------------

TEST(Restart, OfAProcessWaitsAndDoesNotAffectTheOthers) {
  RunningJob job(Workers(3, Policy(2)));
  EXPECT_EQ(job(Exited(1, 7), 1'000 * kMs, true),
            (Lines{"restart 1 of process for 1 in 100", "arm " + std::to_string(kRenewalTimers) + " at 1100"}));
  EXPECT_EQ(job.supervisor.state(1), ProcessState::kResting);
  EXPECT_EQ(job(Passed(kRenewalTimers), 1'100 * kMs), Lines{"start 1 attempt 1"});
  EXPECT_EQ(job(Started(1, 1)), Lines{});
  EXPECT_EQ(job(Exited(1, 7, 1)), Lines{"restart 2 of process for 1 in 200"}) << "the pause doubles";
  job(Passed(kRenewalTimers + 1));
  job(Started(1, 2));
  EXPECT_EQ(job(Exited(1, 7, 2)), (Lines{"origin 1", "-> stopping", "stop 0 2 grace 10000"}));
  EXPECT_EQ(job.supervisor.Ended(true).exit_code, 7);
  EXPECT_EQ(job.supervisor.Ended(true).why, "worker.1 exited with code 7; all 2 restarts of role worker are used up");
}

TEST(Restart, SucceedsIfALaterAttemptDoes) {
  RunningJob job(Workers(2, Policy(1)));
  EXPECT_EQ(job(Exited(0)), Lines{});
  job(Killed(1, SIGKILL));
  job(Passed(kRenewalTimers));
  job(Started(1, 1));
  EXPECT_EQ(job(Exited(1, 0, 1)), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 0);
}

TEST(Restart, OfARoleStopsTheOthersFirstAndStartsAllTogether) {
  RunningJob job(Workers(3, Policy(1, Scope::kRole)));
  EXPECT_EQ(job(Exited(2)), Lines{}) << "it ended well; its work will be done again";
  EXPECT_EQ(job(Exited(1, 7)), (Lines{"restart 1 of role for 0 1 2 in 100", "stop 0 grace 10000"}));
  EXPECT_EQ(job(Passed(kRenewalTimers)), Lines{}) << "one still runs";
  EXPECT_EQ(job(Killed(0, SIGTERM)), (Lines{"start 0 attempt 1", "start 1 attempt 1", "start 2 attempt 1"}));
  for (ProcessId process = 0; process < 3; ++process) job(Started(process, 1));
  job(Exited(0, 0, 1));
  job(Exited(1, 0, 1));
  EXPECT_EQ(job(Exited(2, 0, 1)), (Lines{"-> finishing", "finish"}));
}

TEST(Restart, OfTheJobFollowsTheOrderOfItsRoles) {
  Plan plan = SamplePlan({{"server", 1, Ending::kNever}, {"worker", 1}});
  plan.roles[0].ready.kind = Readiness::Kind::kPort;
  plan.roles[1].after = {0};
  plan.roles[1].restart = Policy(1, Scope::kJob, 0);
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0);
  supervisor.Step(ProcessReady{0, 0, 1}, 0);
  supervisor.Step(Started(1), 0);
  EXPECT_EQ(Reported(supervisor.Step(Exited(1, 1), 0)), (Lines{"restart 1 of job for 0 1 in 0", "stop 0 grace 10000"}));
  EXPECT_EQ(Reported(supervisor.Step(Passed(kRenewalTimers), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Killed(0, SIGTERM), 0)), Lines{"start 0 attempt 1"});
  supervisor.Step(Started(0, 1), 0);
  EXPECT_EQ(Reported(supervisor.Step(ProcessReady{0, 1, 1}, 0)), Lines{"start 1 attempt 1"});
}

TEST(Restart, OfAWiderScopeReplacesANarrowerOne) {
  Plan plan = SamplePlan({{"a", 1}, {"b", 1}});
  plan.roles[0].restart = Policy(1);
  plan.roles[1].restart = Policy(1, Scope::kJob);
  RunningJob job(plan);
  EXPECT_EQ(job(Exited(0, 1)), Lines{"restart 1 of process for 0 in 100"});
  EXPECT_EQ(job(Exited(1, 1), 0, true),
            (Lines{"restart 1 of job for 0 1 in 100", "disarm " + std::to_string(kRenewalTimers),
                   "arm " + std::to_string(kRenewalTimers + 1) + " at 100"}));
  EXPECT_EQ(job(Passed(kRenewalTimers + 1)), (Lines{"start 0 attempt 1", "start 1 attempt 1"}));
}

TEST(Restart, IsAbandonedWhenTheUserStops) {
  RunningJob job(Workers(2, Policy(3)));
  job(Exited(1, 7));
  EXPECT_EQ(job(StopRequested{1, SIGINT}, 0, true),
            (Lines{"-> stopping", "disarm " + std::to_string(kRenewalTimers), "stop 0 grace 10000", "arm 2 at 15000"}));
  EXPECT_EQ(job(Killed(0, SIGTERM)), (Lines{"-> finishing", "finish"}));
}

TEST(Restart, WithAnUnkillableProcessIsOverdue) {
  RunningJob job(Workers(2, Policy(3, Scope::kRole)));
  job(Exited(1, 7));
  EXPECT_EQ(job(Passed(kStopTimer)), (Lines{"-> finishing", "finish"}));
  EXPECT_EQ(job.supervisor.Ended(false).why, "worker.0 did not exit after SIGKILL");
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 3);
}

TEST(Restart, EventsOfEarlierAttemptsAreStrays) {
  RunningJob job(Workers(1, Policy(1)));
  job(Exited(0, 7));
  job(Passed(kRenewalTimers));
  EXPECT_EQ(job(Exited(0, 7)), Lines{"stray: process 0 attempt 0 exited with code 7"});
  EXPECT_EQ(job(Started(0)), Lines{"stray: process 0 attempt 0 started"});
  EXPECT_EQ(job(ProcessReady{0, 0, 1}), Lines{"stray: process 0 attempt 0 became ready"});
}

TEST(Restarts, DependsOnHowAProcessEnded) {
  using Kind = HowEnded::Kind;
  RestartPolicy chosen = Policy(1);
  chosen.any_failure = false;
  chosen.codes = {75};
  chosen.signals = {"KILL"};
  EXPECT_TRUE(Restarts(chosen, {Kind::kExited, 75}));
  EXPECT_FALSE(Restarts(chosen, {Kind::kExited, 9}));
  EXPECT_TRUE(Restarts(chosen, {Kind::kSignalled, SIGKILL}));
  EXPECT_FALSE(Restarts(chosen, {Kind::kSignalled, SIGSEGV}));
  EXPECT_FALSE(Restarts(chosen, {Kind::kNotStarted, 2}));
  EXPECT_FALSE(Restarts(chosen, {Kind::kLimit, 1}));
  EXPECT_FALSE(Restarts(chosen, {Kind::kExited, 0}));
  chosen.success = true;
  EXPECT_TRUE(Restarts(chosen, {Kind::kExited, 0}));
  for (const Kind kind : {Kind::kExited, Kind::kSignalled, Kind::kNotStarted, Kind::kLimit}) {
    EXPECT_TRUE(Restarts(Policy(1), {kind, 9}));
    EXPECT_FALSE(Restarts(Policy(0), {kind, 9}));
  }
}

TEST(RestartBudget, CountsWithinItsWindowAndDoublesTheDelay) {
  RestartPolicy policy = Policy(3);
  policy.within_ms = 1'000;
  RestartBudget budget;
  EXPECT_EQ(budget.Take(policy, 0)->delay_ms, 100U);
  EXPECT_EQ(budget.Take(policy, 100 * kMs)->delay_ms, 200U);
  EXPECT_EQ(budget.Take(policy, 200 * kMs)->delay_ms, 400U);
  EXPECT_FALSE(budget.Take(policy, 999 * kMs));
  const auto later = budget.Take(policy, 1'000 * kMs);
  EXPECT_EQ(later->count, 3U);
  EXPECT_EQ(later->delay_ms, 400U);
  EXPECT_FALSE(budget.Take(policy, 1'000 * kMs));
  EXPECT_EQ(budget.Take(policy, 9'000 * kMs)->delay_ms, 100U) << "calm again";
}

TEST(RestartBudget, LimitsTheDelay) {
  RestartBudget growing;
  std::uint32_t last = 0;
  for (int i = 0; i < 100; ++i) last = growing.Take(Policy(100), 0)->delay_ms;
  EXPECT_EQ(last, RestartPolicy::kMaxBackoffMs);
  RestartBudget patient;
  const RestartPolicy long_pause = Policy(3, Scope::kProcess, 90'000);
  EXPECT_EQ(patient.Take(long_pause, 0)->delay_ms, 90'000U);
  EXPECT_EQ(patient.Take(long_pause, 0)->delay_ms, 90'000U);
}

// --- limits -----------------------------------------------------------------------------------------

TEST(Limits, OfTimeStopAProcess) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].limits.time_ms = 3'000;
  RunningJob job(plan);
  EXPECT_EQ(job(Passed(kProcessTimeTimers + 1), 3'000 * kMs),
            (Lines{"limit time passed by 1", "origin 1", "-> stopping", "stop 0 1 grace 10000"}));
  EXPECT_EQ(job.supervisor.Ended(true).exit_code, 1);
  EXPECT_EQ(job.supervisor.Ended(true).why, "worker.1 ran longer than 3.0 s");
}

TEST(Limits, CanBeAnsweredWithARestart) {
  Plan plan = Workers(2, Policy(1));
  plan.roles[0].limits.time_ms = 3'000;
  RunningJob job(plan);
  EXPECT_EQ(job(Passed(kProcessTimeTimers + 1)),
            (Lines{"limit time passed by 1", "restart 1 of process for 1 in 100", "stop 1 grace 10000"}));
  EXPECT_EQ(job(Passed(kRenewalTimers)), Lines{});
  EXPECT_EQ(job(Killed(1, SIGTERM)), Lines{"start 1 attempt 1"});
}

TEST(Limits, OfSilenceQueryAllHostsAndNameTheFirst) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);
  plan.roles[0].limits.silent_ms = 4'000;
  RunningJob job(plan);
  const auto look = [&](std::uint64_t at, std::vector<std::uint64_t> even, std::vector<std::uint64_t> odd) {
    Lines reported = job(Passed(kSilenceTimer), at * kMs);
    EXPECT_EQ(reported, Lines{"ask output"});
    EXPECT_EQ(job(OutputSeen{0, {0, 2}, std::move(even)}, at * kMs), Lines{}) << "half the news is no silence";
    return job(OutputSeen{1, {1, 3}, std::move(odd)}, at * kMs);
  };
  EXPECT_EQ(look(1'000, {5, 5}, {5, 5}), Lines{});
  EXPECT_EQ(look(2'000, {6, 6}, {6, 5}), Lines{});
  EXPECT_EQ(look(3'000, {6, 7}, {7, 5}), Lines{});
  EXPECT_EQ(look(6'000, {6, 7}, {7, 5}), Lines{}) << "3 s after somebody wrote";
  EXPECT_EQ(look(7'000, {6, 7}, {7, 5}), Lines{"dump 1 silent"}) << "before anything is ended";
  EXPECT_EQ(job(HostDumped{0, 1, {}}, 7'100 * kMs), Lines{});
  EXPECT_EQ(job(HostDumped{0, 1, {}}, 7'100 * kMs), Lines{}) << "once is enough";
  EXPECT_EQ(job(HostDumped{1, 1, {}}, 7'200 * kMs),
            (Lines{"dumped 1", "limit silent passed by 3", "origin 3", "-> stopping", "stop 0 1 2 3 grace 10000"}));
  EXPECT_EQ(job.supervisor.Ended(false).why,
            "worker.3 was the first to stop writing; none of its role wrote for 4.0 s");
}

TEST(SilenceWatch, ChecksFourTimesInTheShortestLimit) {
  Plan plan = SamplePlan({{"a", 1}, {"b", 1}});
  EXPECT_TRUE(SilenceWatch(plan).empty());
  plan.roles[0].limits.silent_ms = 8'000;
  plan.silent_limit_ms = 2'000;
  EXPECT_EQ(SilenceWatch(plan).PeriodMs(), 500U);
  plan.silent_limit_ms = 1;
  EXPECT_EQ(SilenceWatch(plan).PeriodMs(), 1U);
}

TEST(SilenceWatch, CountsStartsAndExitsAsActivity) {
  Plan plan = SamplePlan({{"a", 2}});
  plan.silent_limit_ms = 1'000;
  SilenceWatch watch(plan);
  EXPECT_FALSE(watch.Find(9'000 * kMs)) << "nothing runs";
  watch.Started(0, 0);
  watch.Started(1, 500 * kMs);
  EXPECT_FALSE(watch.Find(1'400 * kMs));
  EXPECT_EQ(watch.Find(1'500 * kMs)->process, 0U);
  watch.Ended(1, 2'000 * kMs);
  EXPECT_FALSE(watch.Find(2'900 * kMs));
  EXPECT_TRUE(watch.Find(3'000 * kMs));
}

TEST(SilenceWatch, TellsApartWhoFellSilentBetweenTwoChecksOnly) {
  Plan plan = SamplePlan({{"a", 4}}, 2);
  plan.silent_limit_ms = 1'000;
  SilenceWatch watch(plan);
  for (const ProcessId process : {0U, 1U, 2U, 3U}) watch.Started(process, 0);
  // The answers of host1, with processes 1 and 3, arrive a moment earlier.
  for (const ProcessId process : {1U, 3U, 0U, 2U}) watch.Saw(process, 1, (250 + 3 - process % 2) * kMs);
  EXPECT_EQ(watch.Find(1'300 * kMs)->process, 0U) << "the lowest number of those that are equal";
  EXPECT_FALSE(watch.Find(1'300 * kMs)->alone);
  for (const ProcessId process : {0U, 2U}) watch.Saw(process, 2, 500 * kMs);
  EXPECT_EQ(watch.Find(1'600 * kMs)->process, 1U);
  EXPECT_TRUE(watch.Find(1'600 * kMs)->alone) << "process 3 is on the same host";
}

TEST(TimerQueue, YieldsTimersInOrderOfTime) {
  TimerQueue timers;
  EXPECT_FALSE(timers.Earliest());
  timers.Arm(3, 30);
  timers.Arm(1, 20);
  timers.Arm(2, 20);
  timers.Arm(3, 10);
  EXPECT_EQ(timers.Earliest(), 10U);
  EXPECT_EQ(timers.Deadline(3), 10U);
  EXPECT_FALSE(timers.TakeDue(9));
  EXPECT_EQ(timers.TakeDue(25), 3U);
  EXPECT_EQ(timers.TakeDue(25), 1U);
  EXPECT_TRUE(timers.Disarm(2));
  EXPECT_FALSE(timers.Disarm(2));
  EXPECT_FALSE(timers.TakeDue(25));
  EXPECT_TRUE(timers.empty());
}

// --- other ports ------------------------------------------------------------------------------------

// server.0 has one port chosen by muster and one of the recipe; two workers.
Plan WithPorts() {
  Plan plan = SamplePlan({{"server", 1, Ending::kNever}, {"worker", 2}});
  plan.ports["rpc"] = {0, 0, "server.0"};
  plan.ports["web"] = {0, 8000, "server.0"};
  return plan;
}

Event Taken(ProcessId process, const std::string& port, std::uint32_t attempt = 0, bool running = false) {
  return PortTaken{process, attempt, port, 20'311, "process 7 (nc)", running, 1};
}

Event Rebound(const std::string& error = "") { return PlanRebound{{{"rpc", 20'312}, {"web", 8'000}}, error}; }

TEST(OtherPorts, AreAssignedToTheWholeJobAfterAStolenPort) {
  RunningJob job(WithPorts());
  EXPECT_EQ(job(Taken(0, "rpc")), Lines{});
  EXPECT_EQ(job(Exited(0, 98)), (Lines{"restart 1 of job for 0 1 2 in 0", "stop 1 2 grace 10000", "rebind"}));
  EXPECT_EQ(job(Rebound()), Lines{}) << "two have not ended";
  EXPECT_EQ(job(Killed(1, SIGTERM)), Lines{});
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"start 0 attempt 1", "start 1 attempt 1", "start 2 attempt 1"}));
}

TEST(OtherPorts, AreAwaitedAfterAllProcessesHaveExited) {
  RunningJob job(WithPorts());
  job(Taken(0, "rpc"));
  job(Exited(0, 98));
  job(Killed(1, SIGTERM));
  EXPECT_EQ(job(Killed(2, SIGTERM)), Lines{});
  EXPECT_EQ(job(Rebound()), (Lines{"start 0 attempt 1", "start 1 attempt 1", "start 2 attempt 1"}));
  EXPECT_EQ(job(Rebound()), Lines{}) << "nobody asked";
}

TEST(OtherPorts, AreAssignedAtMostAFewTimes) {
  RunningJob job(WithPorts());
  for (std::uint32_t attempt = 0; attempt < kMaxRebinds; ++attempt) {
    job(Taken(0, "rpc", attempt));
    EXPECT_EQ(job(Exited(0, 98, attempt)).front(), "restart " + std::to_string(attempt + 1) + " of job for 0 1 2 in 0");
    job(Rebound());
    job(Killed(1, SIGTERM, attempt));
    job(Killed(2, SIGTERM, attempt));
    for (ProcessId process = 0; process < 3; ++process) job(Started(process, attempt + 1));
  }
  job(Taken(0, "rpc", kMaxRebinds));
  EXPECT_EQ(job(Exited(0, 98, kMaxRebinds)).front(), "origin 0");
  for (const ProcessId process : {1U, 2U}) job(Killed(process, SIGTERM, kMaxRebinds));
  job(Empty(0));
  EXPECT_EQ(
      job.supervisor.Ended(false).why,
      "server.0 exited with code 98; port rpc (20311) is taken by process 7 (nc), and the job already got other ports "
      "3 times");
}

TEST(OtherPorts, DoNotReplaceAPortOfTheRecipe) {
  RunningJob job(WithPorts());
  job(PortTaken{0, 0, "web", 8'000, "process 7 (nc)", false, 1});
  EXPECT_EQ(job(Exited(0, 98)).front(), "origin 0");
  for (const ProcessId process : {1U, 2U}) job(Killed(process, SIGTERM));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(true).why, "server.0 exited with code 98; port web (8000) is taken by process 7 (nc)");
  EXPECT_EQ(job.supervisor.Ended(true).exit_code, 98);
}

TEST(OtherPorts, AreOnlyForTheAttemptThatLackedOne) {
  RunningJob job(WithPorts());
  job(Taken(0, "rpc"));
  EXPECT_EQ(job(Exited(1, 1)).front(), "origin 1");
}

TEST(OtherPorts, AreAssignedToAProcessThatIsStillRunning) {
  RunningJob job(WithPorts());
  EXPECT_EQ(job(PortTaken{0, 0, "web", 8'000, "", true, 1}), Lines{}) << "the recipe's: it may be free one day";
  EXPECT_EQ(job(Taken(0, "rpc", 0, true)),
            (Lines{"restart 1 of job for 0 1 2 in 0", "stop 0 grace 10000", "stop 1 2 grace 10000", "rebind"}));
}

TEST(OtherPorts, DoNotUseTheBudgetOfTheRole) {
  Plan plan = WithPorts();
  plan.roles[0].restart = Policy(1, Scope::kProcess, 0);
  RunningJob job(plan);
  job(Taken(0, "rpc"));
  job(Exited(0, 98));
  job(Rebound());
  job(Killed(1, SIGTERM));
  job(Killed(2, SIGTERM));
  for (ProcessId process = 0; process < 3; ++process) job(Started(process, 1));
  EXPECT_EQ(job(Exited(0, 98, 1)), Lines{"restart 1 of process for 0 in 0"});
}

TEST(OtherPorts, ThatAreUnavailableStopTheJob) {
  RunningJob job(WithPorts());
  job(Taken(0, "rpc"));
  job(Exited(0, 98));
  EXPECT_EQ(job(Rebound("ports on host0: rpc: no free port")), Lines{"-> stopping"});
  EXPECT_EQ(job(Killed(1, SIGTERM)), Lines{});
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false),
            (RunEnded{Cause::kUnready, 3, "there are no other ports: ports on host0: rpc: no free port"}));
}

TEST(OtherPorts, AreNotAssignedOnceTheJobStops) {
  RunningJob job(WithPorts());
  job(Taken(0, "rpc"));
  job(Exited(0, 98));
  job(StopRequested{1, SIGINT});
  EXPECT_EQ(job(Rebound()), Lines{});
  job(Killed(1, SIGTERM));
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "finish"}));
}

}  // namespace
}  // namespace muster
