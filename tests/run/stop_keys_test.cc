#include <string>

#include <gtest/gtest.h>

#include "run/console/terminal_link.h"

namespace muster {
namespace {

TEST(StopKeys, AreThreeInARow) {
  StopKeys keys;
  StopKeys::Typed typed = keys.Feed("\x1d\x1d");
  EXPECT_EQ(typed.passed, "\x1d\x1d") << "none is kept back";
  EXPECT_EQ(typed.stops, 0);
  typed = keys.Feed("\x1d");
  EXPECT_EQ(typed.passed, "");
  EXPECT_EQ(typed.stops, 1);
  EXPECT_EQ(keys.Feed("\x1d\x1d").stops, 0) << "they count anew";
  EXPECT_EQ(keys.Feed("\x1dx").stops, 1);
}

TEST(StopKeys, MustBeConsecutive) {
  StopKeys keys;
  const StopKeys::Typed typed = keys.Feed("\x1d\x1d.\x1d\x1d\r\x1d");
  EXPECT_EQ(typed.passed, "\x1d\x1d.\x1d\x1d\r\x1d");
  EXPECT_EQ(typed.stops, 0);
}

TEST(StopKeys, CountAsOftenAsTheyAreTyped) {
  const StopKeys::Typed typed = StopKeys().Feed(
      "a\x1d\x1d\x1d\x1d\x1d\x1d"
      "b");
  EXPECT_EQ(typed.stops, 2);
  EXPECT_EQ(typed.passed,
            "a\x1d\x1d\x1d\x1d"
            "b");
}

}  // namespace
}  // namespace muster
