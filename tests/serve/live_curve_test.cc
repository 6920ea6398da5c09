// Tests the points of curves that pages get while a process reports.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "serve/live/event_hub.h"

namespace muster {
namespace {

MetricValues Report(std::int64_t step, double loss) { return {{"step", Value(step)}, {"loss", Value(loss)}}; }

TEST(LiveCurves, HaveTheStepAsTheirPlace) {
  LiveCurves curves;
  curves.Add(Report(10, 0.5));
  curves.Add({{"loss", Value(0.25)}});  // at the step before
  curves.Add({{"step", Value(std::int64_t{20})}, {"loss", Value(Null())}, {"note", Value("x")}});
  curves.Add(Report(30, 0.125));
  ASSERT_EQ(curves.curves().size(), 1U);
  const LiveCurve& loss = curves.curves().at("loss");
  EXPECT_EQ(loss.x, (std::vector<double>{10, 10, 30}));
  EXPECT_EQ(loss.y, (std::vector<double>{0.5, 0.25, 0.125}));
  EXPECT_EQ(loss.total, 3U);
}

TEST(LiveCurves, CountReportsWithoutAStep) {
  LiveCurves curves;
  for (const double loss : {3.0, 2.0, 1.0}) curves.Add({{"loss", Value(loss)}});
  EXPECT_EQ(curves.curves().at("loss").x, (std::vector<double>{1, 2, 3}));
}

TEST(LiveCurves, UseTheMetricOfEarlyStopping) {
  LiveCurves curves("tokens");
  curves.Add({{"step", Value(std::int64_t{1})}, {"tokens", Value(std::int64_t{4096})}, {"loss", Value(2.0)}});
  EXPECT_EQ(curves.curves().at("loss").x, std::vector<double>{4096});
}

TEST(LiveCurve, KeepsItsExtremesWhenItHasTooManyPoints) {
  LiveCurve curve;
  for (std::size_t i = 0; i < 3 * LiveCurve::kMaxPoints; ++i) {
    const double at = static_cast<double>(i);
    curve.Add(at, i == 1'234 ? 100 : i == 5'432 ? -100 : std::sin(at));
  }
  EXPECT_LE(curve.x.size(), LiveCurve::kMaxPoints);
  EXPECT_EQ(curve.total, 3 * LiveCurve::kMaxPoints);
  EXPECT_EQ(*std::max_element(curve.y.begin(), curve.y.end()), 100);
  EXPECT_EQ(*std::min_element(curve.y.begin(), curve.y.end()), -100);
  EXPECT_TRUE(std::is_sorted(curve.x.begin(), curve.x.end()));
  EXPECT_TRUE(curve.replaced) << "pages have points that are gone";
}

TEST(LiveCurve, KnowsTheNumberAndTheMeanOfWhatItLeavesOut) {
  LiveCurve curve;
  double sum = 0;
  constexpr std::size_t kPoints = 3 * LiveCurve::kMaxPoints + 5;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double value = static_cast<double>(i % 17) + (i == 5'432 ? 1'000 : 0);
    curve.Add(static_cast<double>(i), value);
    sum += value;
  }
  double known = curve.waiting.points * curve.waiting.mean;
  std::size_t points = curve.waiting.points;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    known += curve.y[i] + curve.left_out[i] * curve.mean[i];
    points += curve.left_out[i] + 1;
    if (i > 0) {
      ASSERT_EQ(curve.x[i] - curve.x[i - 1], curve.left_out[i] + 1) << i;
    }
  }
  EXPECT_EQ(points, kPoints);
  EXPECT_NEAR(known, sum, 1e-6);
}

}  // namespace
}  // namespace muster
