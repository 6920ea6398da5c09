// Tests values in recipe syntax, and that numbers round-trip exactly.
#include "muster/value.h"

#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace muster {
namespace {

double ReadBack(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
  return number;
}

TEST(NumberText, IsShortAndExact) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(NumberText(1e300), "1e+300");
  EXPECT_EQ(NumberText(-0.5), "-0.5");
  EXPECT_EQ(NumberText(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(NumberText(std::nan("")), "nan");
}

TEST(NumberText, RoundTripsBitForBit) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50'000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(ReadBack(NumberText(number))), std::bit_cast<std::uint64_t>(number));
  }
}

TEST(ValueText, LooksAsInARecipe) {
  EXPECT_EQ(ToText(Value()), "null");
  EXPECT_EQ(ToText(Value(true)), "true");
  EXPECT_EQ(ToText(Value(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
  EXPECT_EQ(ToText(Value("a\n\"b\"")), "\"a\\n\\\"b\\\"\"");
  EXPECT_EQ(ToText(Value(Value::List{Value(1), Value(0.5), Value(Value::List{})})), "{1, 0.5, {}}");
  EXPECT_EQ(ToText(Value(
                Value::Map{{"b", Value(1)}, {"a", Value()}, {"no name", Value(2)}, {"1", Value(3)}, {"", Value(4)}})),
            "{[\"\"] = 4, [\"1\"] = 3, a = null, b = 1, [\"no name\"] = 2}");
}

TEST(ValueText, NamesTypes) {
  EXPECT_EQ(Value().TypeName(), "nil");
  EXPECT_EQ(Value(1).TypeName(), "int");
  EXPECT_EQ(Value(1.0).TypeName(), "float");
  EXPECT_EQ(Value("").TypeName(), "string");
  EXPECT_EQ(Value(false).TypeName(), "bool");
  EXPECT_EQ(Value(Value::List{}).TypeName(), "list");
  EXPECT_EQ(Value(Value::Map{}).TypeName(), "map");
}

TEST(Value, DistinguishesTrueFromOne) {
  EXPECT_NE(Value(true), Value(1));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_EQ(Value(1).Number(), Value(1.0).Number());
}

}  // namespace
}  // namespace muster
