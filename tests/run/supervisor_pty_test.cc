// Tests which deadlines are suspended while a process has the user's terminal.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

Event Opened(ProcessId process, std::uint32_t attempt = 0) { return PtyOpened{process, attempt, 1}; }
Event Closed(ProcessId process, std::uint32_t attempt = 0) { return PtyClosed{process, attempt, 0, 0, 1}; }

std::string Armed(std::uint64_t timer, std::uint64_t at_ms) {
  return "arm " + std::to_string(timer) + " at " + std::to_string(at_ms);
}
std::string Disarmed(std::uint64_t timer) { return "disarm " + std::to_string(timer); }

TEST(Terminal, SuspendsDeadlinesAndRestoresTheRemainingTime) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.time_limit_ms = 1'000;
  plan.roles[0].limits.time_ms = 800;
  RunningJob job(plan);  // at time 0
  EXPECT_EQ(job(Opened(0), 300 * kMs, true),
            (Lines{Disarmed(kTimeTimer), Disarmed(kProcessTimeTimers), Disarmed(kProcessTimeTimers + 1)}));
  EXPECT_EQ(job(Closed(0), 90'000 * kMs, true), (Lines{Armed(kTimeTimer, 90'700), Armed(kProcessTimeTimers, 90'500),
                                                       Armed(kProcessTimeTimers + 1, 90'500)}));
  EXPECT_EQ(job(DeadlinePassed{kTimeTimer}, 90'700 * kMs).front(), "-> stopping");
}

TEST(Terminal, SuspendsDeadlinesThatWouldBeginMeanwhile) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].ready.kind = Readiness::Kind::kPort;
  plan.roles[0].ready.timeout_ms = 500;
  plan.start_limit_ms = 2'000;
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0);
  supervisor.Step(Opened(0), 100 * kMs);
  EXPECT_EQ(Reported(supervisor.Step(Started(1), 60'000 * kMs), true), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Closed(0), 70'000 * kMs), true),
            (Lines{Armed(kStartTimer, 71'900), Armed(kReadyTimers, 70'400), Armed(kReadyTimers + 1, 70'500)}));
}

TEST(Terminal, DropsDeadlinesThatEndMeanwhile) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].limits.time_ms = 800;
  RunningJob job(plan);
  job(Opened(0));
  job(Exited(1));
  EXPECT_EQ(job(Closed(0), 5'000 * kMs, true), Lines{Armed(kProcessTimeTimers, 5'800)});
}

TEST(Terminal, RestoresDeadlinesWhenItsProcessOrAgentEnds) {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  plan.time_limit_ms = 1'000;
  RunningJob ended(plan);
  ended(Opened(0), 100 * kMs);
  EXPECT_EQ(ended(Exited(0), 5'000 * kMs, true), Lines{Armed(kTimeTimer, 5'900)});
  RunningJob lost(plan);
  lost(Opened(0), 100 * kMs);
  EXPECT_EQ(lost(AgentLost{0, "cut", 0}, 5'000 * kMs, true).front(), Armed(kTimeTimer, 5'900));
}

TEST(Terminal, DoesNotSuspendAStop) {
  Plan plan = SamplePlan({{"worker", 2, Ending::kAll, 50}});
  RunningJob job(plan);
  job(Opened(0));
  const Lines reported = job(StopRequested{1, 0}, 10 * kMs, true);
  EXPECT_NE(std::find(reported.begin(), reported.end(), Armed(kStopTimer, 10 + 50 + kStopMarginMs)), reported.end());
  EXPECT_EQ(job(Killed(1, 9)), Lines{});
  EXPECT_EQ(job(Closed(0)), Lines{});
  EXPECT_EQ(job(Killed(0, 9)), (Lines{"-> finishing", "finish"}));
}

TEST(Terminal, SuspendsTheLingerTimeOfServers) {
  Plan plan = SamplePlan({{"server", 1, Ending::kNever, 1'000, 400}, {"worker", 1}});
  RunningJob job(plan);
  job(Opened(0));
  EXPECT_EQ(job(Exited(1), 0, true), Lines{"-> lingering"});
  EXPECT_EQ(job(Closed(0), 9'000 * kMs, true), Lines{Armed(kLingerTimers, 9'400)});
}

TEST(Terminal, BelongsToTheLatestAttempt) {
  RunningJob job(SamplePlan({{"worker", 1}}));
  EXPECT_EQ(job(Opened(0, 1)), Lines{"stray: process 0 attempt 1 got a terminal"});
  EXPECT_EQ(job(Closed(0, 1)), Lines{}) << "nobody had it";
}

TEST(Terminal, SuspendsTheSilenceLimit) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.silent_limit_ms = 1'000;
  RunningJob job(plan);
  EXPECT_EQ(job(DeadlinePassed{kSilenceTimer}, 250 * kMs), Lines{"ask output"});
  job(Opened(0), 300 * kMs);
  EXPECT_EQ(job(OutputSeen{0, {0, 1}, {0, 0}}, 60'000 * kMs), Lines{}) << "told late, and no silence";
  EXPECT_EQ(job(Closed(0), 60'000 * kMs, true), Lines{Armed(kSilenceTimer, 60'200)});
  EXPECT_EQ(job(DeadlinePassed{kSilenceTimer}, 60'200 * kMs), Lines{"ask output"});
  EXPECT_EQ(job(OutputSeen{0, {0, 1}, {0, 0}}, 60'200 * kMs), Lines{})
      << "half a second, without the time of the terminal";
  job(DeadlinePassed{kSilenceTimer}, 60'700 * kMs);
  EXPECT_EQ(job(OutputSeen{0, {0, 1}, {0, 0}}, 60'700 * kMs), Lines{"dump 1 silent_job"});
}

}  // namespace
}  // namespace muster
