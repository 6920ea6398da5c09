// Tests numbers as tables show them.
#include <gtest/gtest.h>

#include "base/values/value_text.h"

namespace muster::testing {
namespace {

TEST(ShownNumber, HasSixDigits) {
  EXPECT_EQ(ShownNumber(0.12345678901234567), "0.123457");
  EXPECT_EQ(ShownNumber(-1234567.891), "-1.23457e+06");
  EXPECT_EQ(ShownNumber(3.0000000000000004), "3");
}

// Prevents: one number has two forms in a table and in a plan.
TEST(ShownNumber, KeepsTheFormOfNumbersWithFewerDigits) {
  for (const double number : {0.0, 1.0, 0.1, 1e-5, 100000.0, 2e30, -0.25})
    EXPECT_EQ(ShownNumber(number), NumberText(number));
}

TEST(ShownNumber, LeavesOtherValuesAsTheyAre) {
  EXPECT_EQ(ShownValue(Value("a b")), "a b");
  EXPECT_EQ(ShownValue(Value(std::int64_t{12345678})), "12345678");
  EXPECT_EQ(ShownValue(Value(true)), "true");
}

}  // namespace
}  // namespace muster::testing
