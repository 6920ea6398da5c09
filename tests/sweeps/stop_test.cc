// Tests stopping a sweep, and starting one that has a live head already.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Trial 1 ends at once, all others when the file "go" exists.
constexpr char kStoppedPlan[] =
    "job:workers { count = 1, command = { probe, 'file', here .. '/began.' .. p.x, p.x > 1 and { 'await', here .. "
    "'/go' } } }";

// Starts a sweep and returns while trial 2 is running.
StartedProgram StartedInTheMiddle(const SweepCase& sweep) {
  StartedProgram muster = sweep.StartSweep({"--grid", "x=1..4", "--slots", "1"});
  EXPECT_TRUE(AwaitFile(sweep / "began.2"));
  return muster;
}

// Returns the youngest child; 0 if there is none.
pid_t ChildOf(pid_t parent) {
  const std::string process = "/proc/" + std::to_string(parent);
  std::ifstream children(process + "/task/" + std::to_string(parent) + "/children");
  pid_t child = 0;
  while (children >> child) {
  }
  return child;
}

// Returns the head's guard, one for all trials; 0 if guards are disabled.
pid_t GuardOf(pid_t head) {
  std::ifstream children("/proc/" + std::to_string(head) + "/task/" + std::to_string(head) + "/children");
  pid_t found = 0;
  for (pid_t child = 0; children >> child;) {
    if (ContentOf("/proc/" + std::to_string(child) + "/comm") != "muster-guard\n") continue;
    EXPECT_EQ(found, 0) << "two guards";
    found = child;
  }
  return found;
}

// Trials with a daemon each, in its own session.
constexpr char kDaemons[] =
    "job:workers { count = 1, stop = { grace = '1h' }, command = { probe, 'session', 'daemon', 'file', "
    "here .. '/began.' .. p.x, 'wait' } }";

StartedProgram StartedWithDaemons(const SweepCase& sweep) {
  StartedProgram muster = sweep.StartSweep({"--grid", "x=1..2", "--slots", "2"});
  EXPECT_TRUE(AwaitFile(sweep / "began.1") && AwaitFile(sweep / "began.2"));
  return muster;
}

TEST(Sweep, LeavesNothingWhenHeadAndAgentAreKilledAtOnce) {
  const SweepCase sweep(kParams, kDaemons);
  StartedProgram muster = StartedWithDaemons(sweep);
  const pid_t guard = GuardOf(muster.pid());
  if (guard == 0) GTEST_SKIP() << "done without guards";
  const UniqueFd guard_ends = PidFd(guard);
  const pid_t standing = ChildOf(guard);
  ASSERT_TRUE(guard_ends && standing > 0);
  muster.Signal(SIGKILL);
  ::kill(standing, SIGKILL);
  EXPECT_EQ(muster.End(), 128 + SIGKILL);
  ASSERT_TRUE(AwaitReadable(guard_ends.get()));
  EXPECT_TRUE(sweep.NothingLeft());
}

TEST(Sweep, StopsAtOnceDespiteAStoppedAgent) {
  const SweepCase sweep(kParams, kDaemons);
  StartedProgram muster = StartedWithDaemons(sweep);
  const pid_t guard = GuardOf(muster.pid());
  if (guard == 0) GTEST_SKIP() << "done without guards";
  ASSERT_EQ(::kill(ChildOf(guard), SIGSTOP), 0);
  muster.Signal(SIGINT);
  ASSERT_TRUE(AwaitLine(sweep / "err", "muster: stopping; "));
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  EXPECT_TRUE(sweep.NothingLeft());
}

TEST(Sweep, IsHeldByOneHeadAtATime) {
  const SweepCase sweep(kParams, kStoppedPlan);
  StartedProgram muster = StartedInTheMiddle(sweep);
  const std::string before = ContentOf(sweep.journal());
  for (const char* command : {"resume", "retry"}) {
    const CommandResult second = sweep.Muster({command});
    EXPECT_EQ(second.exit_code, 75) << second.err;
    EXPECT_TRUE(Says(second.err, "is in use by pid " + std::to_string(muster.pid()) + " on ")) << second.err;
    EXPECT_TRUE(Says(second.err, "hint: ")) << second.err;
  }
  EXPECT_EQ(ContentOf(sweep.journal()), before);
  sweep.Write("go", "");
  EXPECT_EQ(muster.End(), 0) << sweep.Errors();
  EXPECT_EQ(sweep.Wrong(4), "");
}

TEST(Sweep, CanBeInterruptedAndResumed) {
  const SweepCase sweep(kParams, kStoppedPlan);
  StartedProgram muster = StartedInTheMiddle(sweep);
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  EXPECT_TRUE(Says(sweep.Errors(), "continue with: muster resume ")) << sweep.Errors();
  EXPECT_TRUE(sweep.NothingLeft());
  EXPECT_EQ(sweep.Wrong(), "");
  ASSERT_EQ(sweep.Of(1, "attempt_ended").size(), 1U);
  EXPECT_TRUE(sweep.Of(1, "attempt_ended")[0]["interrupted"]);
  sweep.Write("go", "");
  const CommandResult resumed = sweep.Muster({"resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(sweep.Wrong(4), "");
  EXPECT_EQ(sweep.Of(0, "attempt_began").size(), 1U);
  EXPECT_EQ(sweep.Of(1, "attempt_began").size(), 2U);
}

// Trials create their directories by the sweep's path.
TEST(Sweep, StopsWhenItsDirectoryIsReplaced) {
  const SweepCase sweep(kParams, kStoppedPlan);
  StartedProgram muster = StartedInTheMiddle(sweep);
  const std::string folder = sweep.sweep();
  const std::string moved = sweep / "moved";
  std::filesystem::rename(folder, moved);
  std::filesystem::create_directory(folder);
  sweep.Write("go", "");
  EXPECT_EQ(muster.End(), 3);
  EXPECT_TRUE(Says(sweep.Errors(), "was moved, removed or replaced")) << sweep.Errors();
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_EQ(RecordsOf(moved + "/journal.jsonl", "sweep_ended").size(), 1U);
  EXPECT_TRUE(sweep.NothingLeft());
}

TEST(Sweep, StopsAtOnceOnASecondInterrupt) {
  const SweepCase sweep(kParams,
                        "job:workers { count = 1, stop = { grace = '1h' }, command = { probe, 'ignore-term', 'file', "
                        "here .. '/began.2', 'wait' } }");
  StartedProgram muster = StartedInTheMiddle(sweep);
  muster.Signal(SIGINT);
  ASSERT_TRUE(AwaitLine(sweep / "err", "muster: stopping; "));
  muster.Signal(SIGINT);
  EXPECT_EQ(muster.End(), 128 + SIGINT);
  EXPECT_TRUE(sweep.NothingLeft());
  EXPECT_EQ(sweep.Wrong(), "");
}

TEST(Sweep, IsStoppedByAnotherCommand) {
  const SweepCase sweep(kParams, kStoppedPlan);
  StartedProgram muster = StartedInTheMiddle(sweep);
  const CommandResult stop = sweep.Muster({"stop", "job", "--wait"});
  EXPECT_EQ(stop.exit_code, 0) << stop.err;
  EXPECT_TRUE(Says(stop.out, "has ended (another command stopped it")) << stop.out;
  EXPECT_EQ(muster.End(), 128 + SIGTERM);
  EXPECT_TRUE(sweep.NothingLeft());
  const CommandResult again = sweep.Muster({"stop", sweep.sweep()});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_TRUE(Says(again.out, "has ended already")) << again.out;
  sweep.Write("go", "");
  EXPECT_EQ(sweep.Muster({"resume"}).exit_code, 0);
  EXPECT_EQ(sweep.Wrong(4), "");
}

TEST(Sweep, StopsOnARecipeWithStateBetweenPlans) {
  const SweepCase sweep("x = muster.int { 1 }",
                        "here = here .. 'x' job:workers { count = 1, command = { 'true', here } }");
  const CommandResult stopped = sweep.Sweep({"--grid", "x=1..30", "--slots", "1"});
  EXPECT_EQ(stopped.exit_code, 2) << stopped.err;
  EXPECT_TRUE(Says(stopped.err, ") has the plan ")) << stopped.err;
  EXPECT_TRUE(Says(stopped.err, " in a fresh evaluator, and ")) << stopped.err;
  for (const int trial : {0, 1}) EXPECT_TRUE(sweep.Of(trial, "attempt_began").empty());
}

}  // namespace
}  // namespace muster::testing
