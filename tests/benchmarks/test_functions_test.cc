// Tests the functions of the benchmark of samplers at known points.
#include "benchmarks/test_functions.h"

#include <gtest/gtest.h>

namespace muster::benchmark {
namespace {

const TestFunction& Named(const std::string& name) {
  for (const TestFunction& function : TestFunctions()) {
    if (function.name == name) return function;
  }
  throw std::out_of_range(name);
}
double LossOf(const std::string& name, const Point& point) { return Named(name).loss(point); }
Point PointOf(const std::vector<double>& x) {
  Point point;
  for (std::size_t i = 0; i < x.size(); ++i) point["x" + std::to_string(i + 1)] = x[i];
  return point;
}

TEST(TestFunctions, HaveTheirKnownValues) {
  EXPECT_NEAR(LossOf("Branin", PointOf({0, 0})), 55.602112642270264, 1e-12);
  EXPECT_NEAR(LossOf("Hartmann-6", PointOf({.5, .5, .5, .5, .5, .5})), -.5053149917022333, 1e-12);
  EXPECT_NEAR(LossOf("Rosenbrock-5", PointOf({1, 2, 3, 4, 5})), 14814, 1e-9);
  EXPECT_NEAR(LossOf("Ackley-10", PointOf({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})), 14.217911735010441, 1e-12);
  EXPECT_NEAR(LossOf("Mixed", {{"act", "c"}, {"d", .5}, {"lr", 1e-3}, {"units", 8}}), .53777, 1e-5);
  EXPECT_NEAR(LossOf("Conditional", {{"beta1", .7}, {"eps", 1e-6}, {"lr", 1e-4}, {"optimizer", "adam"}}), .84, 1e-12);
  EXPECT_NEAR(Named("Noisy Branin").noise(3, 7), -.5671550007714095, 1e-12);
}

TEST(TestFunctions, HaveTheirKnownOptima) {
  EXPECT_NEAR(LossOf("Branin", PointOf({3.14159265, 2.275})), Named("Branin").least, 1e-7);
  EXPECT_NEAR(LossOf("Hartmann-6", PointOf({.20169, .150011, .476874, .275332, .311652, .6573})),
              Named("Hartmann-6").least, 1e-6);
  EXPECT_EQ(LossOf("Rosenbrock-5", PointOf({1, 1, 1, 1, 1})), 0);
  EXPECT_NEAR(LossOf("Ackley-10", PointOf(std::vector<double>(10, 0.0))), 0, 1e-12);
  EXPECT_NEAR(LossOf("Mixed", {{"act", "b"}, {"d", .7}, {"lr", 0.00251188643150958}, {"units", 16}}), 0, 1e-12);
  EXPECT_NEAR(LossOf("Conditional", {{"lr", .01}, {"momentum", .9}, {"optimizer", "sgd"}}), 0, 1e-12);
}

TEST(TestFunctions, HaveSpacesOfTheirPoints) {
  for (const TestFunction& function : TestFunctions()) {
    const auto space = CompiledSpace::Of(function.space);
    ASSERT_TRUE(space) << function.name;
    for (int i = 0; i < 8; ++i) {
      const Point point = space->From([i](const std::string&) { return i / 8.0; });
      EXPECT_GE(function.loss(point), function.least) << function.name;
      EXPECT_TRUE(space->Locate(point)) << function.name;
    }
  }
}

}  // namespace
}  // namespace muster::benchmark
