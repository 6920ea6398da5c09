// Tests timers that are suspended while a process has the user's terminal.
#include <gtest/gtest.h>

#include "run/supervise/orders.h"

namespace muster {
namespace {

using Timers = std::vector<std::uint64_t>;
using Deadlines = std::vector<std::pair<std::uint64_t, MonotonicNs>>;

TEST(PausableTimers, ContinueWithTheRemainingTime) {
  PausableTimers timers;
  EXPECT_TRUE(timers.Arm(kTimeTimer, 100, 0));
  EXPECT_TRUE(timers.Arm(kReadyTimers + 3, 50, 0));
  EXPECT_EQ(timers.Pause(30), (Timers{kTimeTimer, kReadyTimers + 3}));
  EXPECT_EQ(timers.Deadline(kTimeTimer), std::nullopt);
  EXPECT_EQ(timers.Resume(1'000), (Deadlines{{kTimeTimer, 1'070}, {kReadyTimers + 3, 1'020}}));
  EXPECT_EQ(timers.Deadline(kTimeTimer), 1'070U);
}

TEST(PausableTimers, DoNotSuspendDeadlinesOfCommands) {
  PausableTimers timers;
  timers.Arm(kStopTimer, 100, 0);
  EXPECT_EQ(timers.Pause(10), Timers{});
  EXPECT_TRUE(timers.Arm(kDumpTimer, 90, 20)) << "armed during the pause";
  EXPECT_TRUE(timers.Arm(kRenewalTimers, 80, 20));
  EXPECT_EQ(timers.Resume(200), Deadlines{});
  EXPECT_EQ(timers.DisarmAll(), (Timers{kStopTimer, kDumpTimer, kRenewalTimers}));
}

TEST(PausableTimers, SuspendTimersArmedDuringThePause) {
  PausableTimers timers;
  timers.Pause(10);
  EXPECT_FALSE(timers.Arm(kLingerTimers, 70, 20));
  EXPECT_EQ(timers.Resume(100), (Deadlines{{kLingerTimers, 150}}));
}

TEST(PausableTimers, DropASuspendedTimerThatIsDisarmed) {
  PausableTimers timers;
  timers.Arm(kTimeTimer, 100, 0);
  timers.Arm(kSilenceTimer, 100, 0);
  timers.Pause(10);
  EXPECT_FALSE(timers.Disarm(kTimeTimer)) << "it does not run";
  EXPECT_EQ(timers.Resume(20), (Deadlines{{kSilenceTimer, 110}}));
}

TEST(PausableTimers, AreDueAtOnceIfTheirDeadlineHasPassed) {
  PausableTimers timers;
  timers.Arm(kTimeTimer, 100, 0);
  timers.Pause(120);
  EXPECT_EQ(timers.Resume(500), (Deadlines{{kTimeTimer, 500}}));
}

}  // namespace
}  // namespace muster
