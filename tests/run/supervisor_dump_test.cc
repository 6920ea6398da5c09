// Tests when the supervisor takes a dump, and what waits for it.
#include <gtest/gtest.h>
#include <signal.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

Event Dumped(std::uint32_t host, std::uint32_t dump = 1) { return HostDumped{host, dump, {}}; }

TEST(Dump, PrecedesAStopThatRequestsIt) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  EXPECT_EQ(job(StopRequested{1, 0, true}, 1'000 * kMs, true), (Lines{"dump 1 stop", "arm 6 at 14000"}));
  EXPECT_EQ(job(Dumped(0), 1'100 * kMs), Lines{});
  EXPECT_EQ(job(Dumped(1), 1'200 * kMs, true),
            (Lines{"disarm 6", "dumped 1", "-> stopping", "stop 0 1 grace 10000", "arm 2 at 16200"}));
  EXPECT_EQ(job.supervisor.Ended(false).why, "asked to stop") << job.supervisor.Ended(false).exit_code;
}

TEST(Dump, ObservesItsDeadline) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  job(StopRequested{2, 0, true});
  job(Dumped(0));
  EXPECT_EQ(job(DeadlinePassed{kDumpTimer}, 13'000 * kMs),
            (Lines{"dumped 1 in part", "-> stopping", "kill 0 1 grace 0"}));
  EXPECT_EQ(job(Dumped(1), 13'001 * kMs), Lines{}) << "late news is no stray";
}

TEST(Dump, StopsNothingByItself) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  EXPECT_EQ(job(DumpRequested{}), Lines{"dump 1 asked"});
  EXPECT_EQ(job.supervisor.dumping(), 1U);
  EXPECT_EQ(job(DumpRequested{}), Lines{}) << "two who ask get the same";
  EXPECT_EQ(job(Dumped(0)), Lines{"dumped 1"});
  EXPECT_EQ(job.supervisor.dumping(), 0U);
  EXPECT_EQ(job(DumpRequested{}), Lines{"dump 2 asked"});
  EXPECT_EQ(job(Dumped(0, 1)), Lines{}) << "of another dump";
  EXPECT_EQ(job(Dumped(0, 2)), Lines{"dumped 2"});
  EXPECT_EQ(job.supervisor.phase(), Phase::kRunning);
}

TEST(Dump, DelaysNoFailure) {
  RunningJob job(SamplePlan({{"worker", 3}}));
  job(DumpRequested{});
  EXPECT_EQ(job(Exited(1, 7)), (Lines{"origin 1", "-> stopping", "stop 0 2 grace 10000"}));
  job(Killed(0, SIGTERM));
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "dumped 1 in part", "finish"}));
}

TEST(Dump, IsAbandonedOnASecondStop) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  job(StopRequested{1, 0, true});
  EXPECT_EQ(job(StopRequested{2, SIGINT, false}), (Lines{"-> stopping", "kill 0 1 grace 0"}));
  EXPECT_EQ(job(Dumped(0)), Lines{"dumped 1"}) << "no second stop comes of it";
}

TEST(Dump, IsCompletedWithoutALostHost) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  job(DumpRequested{});
  job(Dumped(0));
  EXPECT_EQ(job(AgentLost{1, "cut", 0}), (Lines{"-> stopping", "stop 0 grace 10000", "dumped 1"}));
  EXPECT_EQ(job.supervisor.cause(), Cause::kLost);
}

TEST(Dump, CancelsTheStopIfSilenceEndsMeanwhile) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].ending = Ending::kAny;
  plan.silent_limit_ms = 1'000;
  RunningJob job(plan);
  job(DeadlinePassed{kSilenceTimer}, 2'000 * kMs);
  EXPECT_EQ(job(OutputSeen{0, {0, 1}, {0, 0}}, 2'000 * kMs), Lines{"dump 1 silent_job"});
  EXPECT_EQ(job(Exited(0)).front(), "-> lingering");
  EXPECT_EQ(job(Dumped(0), 2'100 * kMs), Lines{"dumped 1"});
}

TEST(Dump, CannotBeTakenWithoutRunningProcesses) {
  const Plan plan = SamplePlan({{"worker", 1}});
  Supervisor supervisor(plan);
  EXPECT_FALSE(supervisor.CanDump());
  EXPECT_EQ(Reported(supervisor.Step(StopRequested{1, SIGINT, true}, 0)), (Lines{"-> finishing", "finish"}));
}

}  // namespace
}  // namespace muster
