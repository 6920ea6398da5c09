// Tests when the supervisor requests a checkpoint before stopping a job, and how long it waits.
#include <gtest/gtest.h>
#include <signal.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

// Two workers that can write a checkpoint, and a server that cannot.
Plan WritingPlan() {
  Plan plan = SamplePlan({{"worker", 2}, {"server", 1}});
  plan.roles[0].stop.checkpoint_signal = "USR1";
  plan.roles[0].stop.checkpoint_ms = 30'000;
  return plan;
}

const std::string kAsks = "stop 0 1 grace 45000";

TEST(Checkpoint, IsRequestedBeforeAnyProcessIsStopped) {
  RunningJob job(WritingPlan());
  const Lines asked = job(StopRequested{1, SIGINT}, 1'000 * kMs);
  EXPECT_EQ(asked, (Lines{"-> stopping", kAsks}));
  EXPECT_TRUE(job.supervisor.awaits_checkpoint());
  EXPECT_EQ(job(CheckpointSeen{"/c/step_1", "earlier"}), Lines{}) << "of another run";
  EXPECT_EQ(job(CheckpointSeen{"/c/step_2", ""}), (Lines{"stop 0 1 grace 10000", "stop 2 grace 10000"}));
  EXPECT_FALSE(job.supervisor.awaits_checkpoint());
  EXPECT_EQ(job(CheckpointSeen{"/c/step_3", ""}), Lines{}) << "one is enough";
}

TEST(Checkpoint, IsAwaitedUntilItsTimeout) {
  RunningJob job(WritingPlan());
  job(StopRequested{1, 0});
  EXPECT_EQ(job(DeadlinePassed{kCheckpointTimer}, 31'000 * kMs), (Lines{"stop 0 1 grace 10000", "stop 2 grace 10000"}));
}

TEST(Checkpoint, IsOverWhenAllRequestedProcessesHaveExited) {
  RunningJob job(WritingPlan());
  job(StopRequested{1, 0});
  EXPECT_EQ(job(Killed(0, SIGUSR1)), Lines{}) << "however it ends, it was asked";
  EXPECT_EQ(job(Exited(1)), Lines{"stop 2 grace 10000"});
  EXPECT_EQ(job.supervisor.cause(), Cause::kStopped);
}

TEST(Checkpoint, IsAbandonedOnASecondStop) {
  RunningJob job(WritingPlan());
  job(StopRequested{1, SIGINT});
  EXPECT_EQ(job(StopRequested{2, SIGINT}), (Lines{"kill 0 1 grace 0", "kill 2 grace 0"}));
  EXPECT_EQ(job(CheckpointSeen{"/c/step_2", ""}), Lines{});
}

TEST(Checkpoint, IsNotRequestedAfterAFailure) {
  RunningJob job(WritingPlan());
  EXPECT_EQ(job(Exited(0, 7)), (Lines{"origin 0", "-> stopping", "stop 1 grace 10000", "stop 2 grace 10000"}));
}

TEST(Checkpoint, IsRequestedAtTheTimeLimit) {
  Plan plan = WritingPlan();
  plan.time_limit_ms = 60'000;
  RunningJob job(plan);
  EXPECT_EQ(job(DeadlinePassed{kTimeTimer}, 61'000 * kMs).back(), kAsks);
  EXPECT_EQ(job(CheckpointSeen{"/c/step_2", ""}).back(), "stop 2 grace 10000");
  EXPECT_EQ(job.supervisor.cause(), Cause::kTimeLimit);
}

TEST(Checkpoint, DoesNotCountAFailureMeanwhileAsTheCause) {
  RunningJob job(WritingPlan());
  job(StopRequested{1, 0});
  EXPECT_EQ(job(Exited(2, 9)), Lines{}) << "a server that nobody has told yet";
  EXPECT_EQ(job.supervisor.cause(), Cause::kStopped);
  EXPECT_FALSE(job.supervisor.first_failure());
}

}  // namespace
}  // namespace muster
