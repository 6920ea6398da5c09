#include <gtest/gtest.h>

#include "transport/ssh_transport.h"

namespace muster {
namespace {

using Numbers = std::vector<std::uint32_t>;
constexpr std::uint64_t kMs = 1'000'000;

ConnectWindow Window(std::uint64_t chance = 0) {
  return ConnectWindow([chance](std::uint64_t most) { return std::min(chance, most); });
}

Numbers Count(std::uint32_t from, std::uint32_t to) {
  Numbers numbers;
  for (std::uint32_t i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

TEST(ConnectWindow, LetsSixtyFourBeginAtOnceAndOneMoreForEachThatIsDone) {
  ConnectWindow window = Window();
  for (std::uint32_t i = 0; i < 100; ++i) window.Add(i);
  EXPECT_EQ(window.Begin(0), Count(0, 64));
  EXPECT_EQ(window.Begin(0), Numbers{});
  window.Done(3);
  window.Done(60);
  EXPECT_EQ(window.Begin(0), Count(64, 66));
}

TEST(ConnectWindow, IsEightWideBehindAJumpHost) {
  ConnectWindow window = Window();
  window.Narrow();
  for (std::uint32_t i = 0; i < 20; ++i) window.Add(i);
  EXPECT_EQ(window.Begin(0), Count(0, 8));
}

TEST(ConnectWindow, NarrowsAndRestsWhenSomebodyIsTurnedAway) {
  ConnectWindow window = Window();
  for (std::uint32_t i = 0; i < 20; ++i) window.Add(i);
  EXPECT_EQ(window.Begin(0).size(), 20U);
  EXPECT_TRUE(window.TurnedAway(5, 1000 * kMs));
  EXPECT_EQ(window.width(), 8U);
  EXPECT_FALSE(window.NextAt()) << "it is not its rest that it waits for: 19 are still on their way";
  for (std::uint32_t i = 6; i < 20; ++i) window.Done(i);
  EXPECT_EQ(window.NextAt(), 1100 * kMs);
  EXPECT_EQ(window.Begin(1099 * kMs), Numbers{});
  EXPECT_EQ(window.Begin(1100 * kMs), Numbers{5});
  EXPECT_FALSE(window.NextAt());
}

TEST(ConnectWindow, RestsTwiceAsLongEachTimeAndNotAllAlike) {
  ConnectWindow early = Window(0);
  ConnectWindow late = Window(~std::uint64_t{0});
  early.Add(0);
  late.Add(0);
  early.Begin(0);
  late.Begin(0);
  for (const std::uint64_t rest : {200U, 400U, 800U, 1600U, 3200U}) {
    ASSERT_TRUE(early.TurnedAway(0, 0));
    ASSERT_TRUE(late.TurnedAway(0, 0));
    EXPECT_EQ(early.NextAt(), rest / 2 * kMs);
    EXPECT_EQ(late.NextAt(), rest / 2 * 3 * kMs);
    EXPECT_EQ(early.Begin(*early.NextAt()), Numbers{0});
    EXPECT_EQ(late.Begin(*late.NextAt()), Numbers{0});
  }
  EXPECT_FALSE(early.TurnedAway(0, 0)) << "six times is often enough";
  EXPECT_FALSE(early.NextAt());
}

TEST(ConnectWindow, ForgetsHostsThatAreNotNeededAnyMore) {
  ConnectWindow window = Window();
  window.Add(0);
  window.Add(1);
  window.Done(0);
  EXPECT_EQ(window.Begin(0), Numbers{1});
  EXPECT_TRUE(window.TurnedAway(1, 0));
  window.Done(1);
  EXPECT_FALSE(window.NextAt());
}

}  // namespace
}  // namespace muster
