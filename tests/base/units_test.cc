// Tests parsing and formatting of sizes and durations.
#include <utility>

#include <gtest/gtest.h>

#include "base/values/number_text.h"

namespace muster {
namespace {

TEST(ParseBytes, ReadsDecimalAndBinaryUnits) {
  const std::pair<const char*, std::int64_t> cases[] = {{"0", 0},
                                                        {"512", 512},
                                                        {"1B", 1},
                                                        {"1KB", 1000},
                                                        {"1KiB", 1024},
                                                        {"3.5GB", 3'500'000'000},
                                                        {"30GiB", 30LL << 30},
                                                        {"0.5KiB", 512},
                                                        {"1.5MiB", 3 << 19},
                                                        {"7PiB", 7LL << 50},
                                                        {"9223372036854775807", 9223372036854775807LL},
                                                        {"9007199254740993", 9007199254740993LL},
                                                        {"0.000000001GB", 1},
                                                        {"00012KB", 12'000}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(ParseBytes(text), bytes) << text;
}

TEST(ParseBytes, ReadsEveryDecimalFractionThatIsWhole) {
  for (std::int64_t bytes = 0; bytes < 20'000; ++bytes) {
    const std::string whole = std::to_string(bytes / 1000);
    std::string fraction = std::to_string(1000 + bytes % 1000);
    fraction[0] = '.';
    ASSERT_EQ(ParseBytes(whole + fraction + "KB"), bytes) << whole << fraction;
    ASSERT_EQ(ParseBytes(whole + fraction + "GB"), bytes * 1'000'000) << whole << fraction;
    ASSERT_EQ(ParseBytes(whole + fraction + "TB"), bytes * 1'000'000'000) << whole << fraction;
  }
}

TEST(ParseBytes, RefusesEverythingElse) {
  for (const char* text :
       {"",       " ",    "GB",   "1 GB", "1gb", "1Kib", "-1",       "-1GB",    "+1",
        "1e3",    "0x10", ".5GB", "5.GB", "1.5", "0.1B", "1.0005KB", "1.2.3GB", "9223372036854775808",
        "9300PB", "nan",  "inf",  "1GBx", "１GB"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseBytes(std::string(5000, '9') + "GB"), std::nullopt);
  EXPECT_EQ(ParseBytes(std::string_view("1\0GB", 4)), std::nullopt);
}

TEST(ParseDuration, ReadsUnitsInOrder) {
  const std::pair<const char*, double> cases[] = {
      {"0", 0},       {"0.0", 0},        {"90s", 90},   {"250ms", 0.25}, {"15m", 900},
      {"12h", 43200}, {"1d12h", 129600}, {"1.5s", 1.5}, {"1m30s", 90},   {"1d2h3m4s5ms", 93784.005}};
  for (const auto& [text, expected] : cases) {
    ASSERT_TRUE(ParseDuration(text)) << text;
    EXPECT_DOUBLE_EQ(*ParseDuration(text), expected) << text;
  }
}

TEST(ParseDuration, RefusesEverythingElse) {
  for (const char* text : {"", "s", "1x", "1 s", "-1s", "1s1m", "1h1h", "1h30", "30 1h", ".5s", "5.s", "1e3s", "1S",
                           "ms", "1sm", "90", "1.5", "30"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(DurationHint, OffersEachUnitForANumberWithoutOne) {
  EXPECT_EQ(DurationHint("30", "write 12h"), "a time has its unit: write 30s, 30m, 30h or 30d");
  EXPECT_EQ(DurationHint("1.5", "write 12h"), "a time has its unit: write 1.5s, 1.5m, 1.5h or 1.5d");
  EXPECT_EQ(DurationHint("soon", "write 12h"), "write 12h");
  EXPECT_EQ(DurationHint("", "write 12h"), "write 12h");
}

TEST(DurationText, IsReadable) {
  const std::pair<double, const char*> cases[] = {{0, "0.0 ms"},
                                                  {0.0005, "0.5 ms"},
                                                  {0.0042, "4.2 ms"},
                                                  {0.34, "340 ms"},
                                                  {0.9994, "999 ms"},
                                                  {0.9996, "1.0 s"},
                                                  {1.23, "1.2 s"},
                                                  {59.94, "59.9 s"},
                                                  {59.96, "1 min 0 s"},
                                                  {125, "2 min 5 s"},
                                                  {3599.7, "1 h 0 min"},
                                                  {3780, "1 h 3 min"},
                                                  {23 * 3600.0 + 59 * 60, "23 h 59 min"},
                                                  {86'399.7, "1 d 0 h"},
                                                  {100 * 3600.0, "4 d 4 h"}};
  for (const auto& [length, text] : cases) EXPECT_EQ(DurationText(length), text) << length;
}

}  // namespace
}  // namespace muster
