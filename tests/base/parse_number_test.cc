#include <cstdint>

#include <gtest/gtest.h>

#include "base/values/number_text.h"

namespace muster {
namespace {

TEST(ParseNumber, ReadsAWholeText) {
  EXPECT_EQ(ParseNumber<int>("0"), 0);
  EXPECT_EQ(ParseNumber<int>("-17"), -17);
  EXPECT_EQ(ParseNumber<std::uint16_t>("65535"), 65535);
  EXPECT_EQ(ParseNumber<std::uint64_t>("ff", 16), 255U);
}

TEST(ParseNumber, RefusesEverythingElse) {
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x1", "1e3", "one", "-"}) {
    EXPECT_FALSE(ParseNumber<int>(text)) << text;
  }
  EXPECT_FALSE(ParseNumber<std::uint16_t>("65536"));
  EXPECT_FALSE(ParseNumber<std::uint32_t>("-1"));
}

}  // namespace
}  // namespace muster
