#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "space/space.h"

namespace muster::testing {
namespace {

Axis Range(double low, double high, double step, bool whole = false) {
  return {"a", Axis::Kind::kRange, {}, low, high, step, whole};
}
Axis Between(Axis::Kind kind, double low, double high) { return {"a", kind, {}, low, high, 1, false}; }

TEST(Axis, OfARangeIncludesBothEndsAndWritesValuesShort) {
  const Axis tenths = Range(0.1, 0.5, 0.1);
  ASSERT_EQ(CountOf(tenths), 5U);
  std::string values;
  for (std::uint64_t i = 0; i < 5; ++i) values += ToText(ValueAt(tenths, i)) + " ";
  EXPECT_EQ(values, "0.1 0.2 0.3 0.4 0.5 ");
  EXPECT_EQ(ValueAt(Range(2, 8, 2, true), 3), Value(std::int64_t{8}));
  EXPECT_EQ(CountOf(Range(3, 3, 1, true)), 1U);
}

TEST(Axis, RefusesMistakes) {
  const auto problem = [](const Axis& axis) {
    const auto checked = CheckAxis(axis, {"s.lua", 3});
    return checked ? std::string() : checked.error().at(0).message;
  };
  EXPECT_EQ(problem(Range(0, 1, 0.3)), "axis a: steps of 0.3 from 0 to 1 do not land on the upper end");
  EXPECT_EQ(problem(Range(1, 0, 1)), "axis a: from 1 to 0 there is nothing");
  EXPECT_EQ(problem(Range(0, 1, 0)), "axis a: the step must be above 0, got 0");
  EXPECT_EQ(problem({"a", Axis::Kind::kChoice, {}}), "axis a: there is no value to choose");
  EXPECT_EQ(problem({"a", Axis::Kind::kChoice, {Value(1), Value(2), Value(1)}}), "axis a: the value 1 is given twice");
  EXPECT_EQ(problem(Between(Axis::Kind::kLogUniform, 0, 1)),
            "axis a: a logarithmic axis needs numbers above 0, got 0 to 1");
  EXPECT_EQ(problem(Between(Axis::Kind::kIntLogUniform, 0.5, 4)), "axis a: expected integers from 1, got 0.5 to 4");
  EXPECT_EQ(problem(Between(Axis::Kind::kUniform, 1, 1)), "axis a: from 1 to 1 there is nothing");
  EXPECT_EQ(problem(Between(Axis::Kind::kUniform, 0, std::numeric_limits<double>::infinity())),
            "axis a: its ends are no numbers: 0 to inf");
}

TEST(Axis, MapsEqualSharesOfTheUnitIntervalToQuantisedValues) {
  const Axis axis = Range(0, 1, 0.25);
  std::map<double, int> seen;
  for (int i = 0; i < 1000; ++i) ++seen[*ValueFrom(axis, i / 1000.0).AsDouble()];
  ASSERT_EQ(seen.size(), 5U);
  for (const auto& [value, count] : seen) EXPECT_EQ(count, 200) << value;
}

TEST(Axis, DrawsShortNumbers) {
  for (const Axis::Kind kind : {Axis::Kind::kUniform, Axis::Kind::kLogUniform}) {
    for (int i = 0; i < 1000; ++i) {
      const double drawn = *ValueFrom(Between(kind, 1e-5, 1e-3), i / 1000.0).AsDouble();
      EXPECT_LE(NumberText(drawn).size(), std::string("0.000123456").size()) << NumberText(drawn);
    }
  }
  // Rounding to six digits would leave the interval.
  const double narrow = *ValueFrom(Between(Axis::Kind::kUniform, 1.00000001, 1.00000002), 0.5).AsDouble();
  EXPECT_GE(narrow, 1.00000001);
  EXPECT_LT(narrow, 1.00000002);
}

TEST(Axis, StaysWithinItsBoundsForAnyCoordinate) {
  const double almost = std::nextafter(1.0, 0.0);
  for (const Axis::Kind kind : {Axis::Kind::kUniform, Axis::Kind::kLogUniform}) {
    const Axis axis = Between(kind, 1e-5, 1e-3);
    EXPECT_EQ(*ValueFrom(axis, 0).AsDouble(), 1e-5);
    EXPECT_LT(*ValueFrom(axis, almost).AsDouble(), 1e-3);
    EXPECT_GT(*ValueFrom(axis, almost).AsDouble(), 0.99e-3);
  }
  EXPECT_NEAR(*ValueFrom(Between(Axis::Kind::kLogUniform, 1e-5, 1e-3), 0.5).AsDouble(), 1e-4, 1e-12);
  const Axis whole = Between(Axis::Kind::kIntLogUniform, 1, 1024);
  EXPECT_EQ(ValueFrom(whole, 0), Value(std::int64_t{1}));
  EXPECT_EQ(ValueFrom(whole, almost), Value(std::int64_t{1024}));
  EXPECT_EQ(ValueFrom(Range(1, 3, 1, true), almost), Value(std::int64_t{3}));
}

}  // namespace
}  // namespace muster::testing
