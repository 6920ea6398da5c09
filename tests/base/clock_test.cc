// Tests formatting and parsing of times.
#include "base/system/clock.h"

#include <ctime>
#include <regex>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Clock, WritesUtcWithMicroseconds) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(UtcText(1'795'176'376'123'456'789), "2026-11-20T12:06:16.123456Z");
  EXPECT_EQ(UtcText(951'782'400'000'000'999), "2000-02-29T00:00:00.000000Z");
  EXPECT_EQ(UtcText(~std::uint64_t{0}), "2554-07-21T23:34:33.709551Z");
}

TEST(Clock, ParsesItsOwnOutput) {
  for (const std::uint64_t moment : {std::uint64_t{0}, 1'795'176'376'123'456'000U, 951'782'400'000'000'000U}) {
    EXPECT_EQ(ParseUtc(UtcText(moment)), moment);
  }
}

TEST(Clock, ParsesCommonSpellingsOfUtc) {
  constexpr std::uint64_t kMinute = 1'795'176'360'000'000'000;
  EXPECT_EQ(ParseUtc("2026-11-20T12:06"), kMinute);
  EXPECT_EQ(ParseUtc("2026-11-20 12:06:00Z"), kMinute);
  EXPECT_EQ(ParseUtc("2026-11-20T12:06:00.5"), kMinute + 500'000'000);
  EXPECT_EQ(ParseUtc("2026-11-20T12:06:00.123456789Z"), kMinute + 123'456'789);
}

TEST(Clock, RefusesEverythingElseAsUtc) {
  for (const char* text :
       {"", "5m", "2026-11-20", "2026-11-20T", "2026-11-20T12",
        "2026-11-20T12:", "2026-11-20T12:06:", "2026-11-20T12:06:0", "2026-11-20T12:06:00.",
        "2026-11-20T12:06:00.1234567890", "2026-02-29T12:06", "2026-13-01T12:06", "2026-11-20T24:06",
        "2026-11-20T12:60", "1969-12-31T23:59", "2026-11-20T12:06+01:00", "2026-11-20T12:06ZZ", "-026-11-20T12:06"}) {
    EXPECT_EQ(ParseUtc(text), std::nullopt) << text;
  }
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
