#include <gtest/gtest.h>

#include "transport/agent_heartbeats.h"

namespace muster {
namespace {

TEST(ClockOffset, IsTheMiddleOfTheWayGiveOrTakeHalfOfIt) {
  ClockOffset clock;
  EXPECT_FALSE(clock.best());
  clock.Add(1'000, 9'500, 1'400);  // 1'200 there was 9'500 here, give or take 200
  EXPECT_EQ(clock.best(), (ClockEstimate{8'300, 200}));
  ClockOffset behind;
  behind.Add(9'000, 500, 9'100);
  EXPECT_EQ(behind.best(), (ClockEstimate{-8'550, 50}));
}

TEST(ClockOffset, TakesTheShortestOfTheLatestWays) {
  ClockOffset clock;
  clock.Add(0, 100, 10);
  for (int i = 0; i < 15; ++i) clock.Add(1'000, 1'150, 1'100);
  EXPECT_EQ(clock.best(), (ClockEstimate{95, 5}));
  clock.Add(1'000, 1'150, 1'100);
  EXPECT_EQ(clock.best(), (ClockEstimate{100, 50})) << "the clocks may have drifted since";
}

TEST(ClockOffset, PassesOverWhatCannotBe) {
  ClockOffset clock;
  clock.Add(100, 50, 99);
  EXPECT_FALSE(clock.best());
  EXPECT_FALSE(clock.Better());
}

TEST(ClockOffset, ReportsBetterAndContradictingEstimates) {
  ClockOffset clock;
  clock.Add(0, 1'100, 200);
  EXPECT_TRUE(clock.Better());
  EXPECT_FALSE(clock.Better());
  clock.Add(0, 1'080, 160);
  EXPECT_FALSE(clock.Better()) << "hardly better";
  clock.Add(0, 1'040, 80);
  EXPECT_TRUE(clock.Better());
  for (int i = 0; i < 16; ++i) clock.Add(0, 5'040, 80);
  EXPECT_TRUE(clock.Better()) << "the clocks are elsewhere now";
}

}  // namespace
}  // namespace muster
