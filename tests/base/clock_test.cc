// Times as people read them.
#include "base/clock.h"

#include <ctime>
#include <regex>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Clock, WritesUtcWithMicroseconds) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(UtcText(1'795'176'376'123'456'789), "2026-11-20T12:06:16.123456Z");
  EXPECT_EQ(UtcText(951'782'400'000'000'999), "2000-02-29T00:00:00.000000Z");
}

TEST(Clock, WritesStampsInLocalTime) {
  constexpr std::uint64_t kMoment = 1'795'176'376;
  const auto seconds = static_cast<std::time_t>(kMoment);
  std::tm local{};
  localtime_r(&seconds, &local);
  char expected[32];
  ASSERT_GT(std::strftime(expected, sizeof expected, "%Y%m%d-%H%M%S", &local), 0U);
  EXPECT_EQ(StampText(kMoment * 1'000'000'000), expected);
}

TEST(Clock, NeverRunsBackwards) {
  std::uint64_t last = MonotonicNowNs();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t now = MonotonicNowNs();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_TRUE(std::regex_match(UtcText(WallNowNs()), std::regex(R"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)")));
}

}  // namespace
}  // namespace muster
