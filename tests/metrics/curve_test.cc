// Tests that thinning a curve out keeps what a reader looks for, at once and while it grows.
#include "metrics/curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace muster {
namespace {

using Indices = std::vector<std::size_t>;

TEST(DownSample, KeepsTheEndsAndTheExtremesOfEachInterval) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<double> y = {0, 1, 0, 5, 0, -4, 0, 2, 0, 1};
  EXPECT_EQ(MinMaxSample(x, y, 4, Spacing::kLinear), (Indices{0, 3, 5, 9}));
  EXPECT_EQ(MinMaxSample(x, y, 10, Spacing::kLinear), (Indices{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(MinMaxSample({}, {}, 4, Spacing::kLinear).empty());
}

TEST(DownSample, KeepsEverySpikeOfALongCurve) {
  std::vector<double> x, y;
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(i);
    y.push_back(std::sin(i * 0.7) * 0.1);
  }
  Indices spikes;
  for (int k = 0; k < 20; ++k) {
    spikes.push_back(static_cast<std::size_t>(k) * 4'999 + 137);
    y[spikes.back()] = k % 2 == 0 ? 9 + k : -9 - k;
  }
  const Indices kept = MinMaxSample(x, y, 400, Spacing::kLinear);
  EXPECT_LE(kept.size(), 400U);
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
  for (const std::size_t spike : spikes) EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), spike)) << spike;
}

TEST(DownSample, SpreadsPointsEvenlyOnALogarithmicAxis) {
  std::vector<double> x, y;
  for (int i = 1; i <= 100'000; ++i) {
    x.push_back(i);
    y.push_back(i % 2);
  }
  const Indices kept = MinMaxSample(x, y, 500, Spacing::kLog);
  EXPECT_LE(kept.size(), 500U);
  const auto below = [&](double limit) {
    return std::count_if(kept.begin(), kept.end(), [&](std::size_t i) { return x[i] <= limit; });
  };
  EXPECT_GT(below(10'000) - below(1'000), 80);
  EXPECT_GT(below(1'000) - below(100), 80);
}

TEST(DownSample, KeepsTheExtremesIfStepsGoBack) {
  std::vector<double> x, y;
  for (int i = 0; i < 10'000; ++i) {
    x.push_back(i % 2 == 0 ? i : 9'999 - i);
    y.push_back(i == 5'001 ? 50 : i == 20 ? -50 : 0);
  }
  const Indices kept = MinMaxSample(x, y, 100, Spacing::kLinear);
  EXPECT_LE(kept.size(), 100U);
  EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), 5'001U));
  EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), 20U));
}

TEST(DownSample, MarksValuesThatAreNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> x = {1, 2, 3, nan, 5};
  const std::vector<double> y = {1, nan, std::numeric_limits<double>::infinity(), 4, 5};
  const Curve curve = CurveOf(x, y, 100);
  EXPECT_EQ(curve, (Curve{{1, 5}, {1, 5}, {0, 0}, {0, 0}, {2, 3}, 2, 2}));
}

TEST(DownSample, MarksValuesThatNoFloatHas) {
  const Curve curve = CurveOf(std::vector<double>{1, 2, 3}, std::vector<double>{1, 1e300, 5}, 100);
  EXPECT_EQ(curve, (Curve{{1, 3}, {1, 5}, {0, 0}, {0, 0}, {2}, 1, 2}));
}

TEST(DownSample, CountsValuesThatAreNotFiniteBeyondThoseItLists) {
  std::vector<double> x(250), y(250, std::numeric_limits<double>::quiet_NaN());
  std::iota(x.begin(), x.end(), 0);
  const Curve curve = CurveOf(x, y, 100);
  EXPECT_EQ(curve.not_finite.size(), Curve::kMaxMarks);
  EXPECT_EQ(curve.not_finite_points, 250U);
}

// The sum of a curve's points, kept and left out.
double SumOf(const Curve& curve) {
  double sum = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i) sum += curve.y[i] + curve.left_out[i] * curve.mean[i];
  return sum;
}

TEST(DownSample, KnowsTheNumberAndTheMeanOfWhatItLeavesOut) {
  std::vector<double> x, y;
  for (int i = 0; i < 10'000; ++i) {
    x.push_back(i);
    y.push_back(i % 7 + (i == 4'321 ? 1'000 : 0));
  }
  const double sum = std::accumulate(y.begin(), y.end(), 0.0);
  const Curve curve = CurveOf(x, y, 300);
  Curve thinner = curve;
  thinner.Thin(60);
  for (const Curve& one : {curve, thinner}) {
    EXPECT_NEAR(SumOf(one), sum, sum * 1e-9);
    EXPECT_EQ(std::accumulate(one.left_out.begin(), one.left_out.end(), one.x.size()), 10'000U);
    for (std::size_t i = 1; i < one.x.size(); ++i) {
      ASSERT_EQ(one.x[i] - one.x[i - 1], one.left_out[i] + 1) << i;
    }
  }
  EXPECT_LE(thinner.x.size(), 60U);
  Curve same = curve;
  same.Thin(300);
  EXPECT_EQ(same, curve);
}

// The average over all points is back at the level of the curve soon after a spike, not at the next few points kept.
TEST(DownSample, HasTheMovingAverageOfAllPoints) {
  constexpr double kWeight = 0.89;
  constexpr double kNoise = 0.05;
  std::vector<double> x, y;
  std::uint32_t random = 1;
  for (int i = 1; i <= 100'000; ++i) {
    double sum = -6;  // of uniform numbers: close to normal
    for (int k = 0; k < 12; ++k) sum += (random = random * 1'664'525 + 1'013'904'223) / 4'294'967'296.0;
    x.push_back(i);
    y.push_back(5 / (1 + i / 2'000.0) + kNoise * sum + (i == 77'777 ? 40 : 0));
  }
  std::vector<double> exact;
  double last = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    last = last * kWeight + (1 - kWeight) * y[i];
    exact.push_back(last / (1 - std::pow(kWeight, static_cast<double>(i + 1))));
  }
  const Curve curve = CurveOf(x, y, 2'000);
  last = 0;
  double count = 0;
  const auto add = [&](double value, double times) {
    last = last * std::pow(kWeight, times) + (1 - std::pow(kWeight, times)) * value;
    count += times;
  };
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    add(curve.mean[i], curve.left_out[i]);
    add(curve.y[i], 1);
    EXPECT_NEAR(last / (1 - std::pow(kWeight, count)), exact[static_cast<std::size_t>(curve.x[i]) - 1], kNoise) << i;
  }
}

TEST(DownSample, ServesBothKindsOfAxes) {
  std::vector<double> x, y;
  for (int i = 1; i <= 50'000; ++i) {
    x.push_back(i);
    y.push_back(i == 3 ? 100 : i == 40'000 ? -100 : std::cos(i));
  }
  const Curve curve = CurveOf(x, y, 200);
  EXPECT_LE(curve.x.size(), 200U);
  EXPECT_EQ(curve.points, 50'000U);
  EXPECT_EQ(*std::max_element(curve.y.begin(), curve.y.end()), 100);
  EXPECT_EQ(*std::min_element(curve.y.begin(), curve.y.end()), -100);
  EXPECT_EQ(curve.x.front(), 1);
  EXPECT_EQ(curve.x.back(), 50'000);
  EXPECT_GT(std::count_if(curve.x.begin(), curve.x.end(), [](double at) { return at < 100; }), 15);
}

TEST(GrowingCurve, KeepsItsEndsAndItsExtremesWithinItsBudget) {
  constexpr std::size_t kBudget = 4'000;
  for (const Spacing spacing : {Spacing::kLinear, Spacing::kBoth}) {
    Curve curve;
    bool left_out = false;
    for (std::size_t i = 0; i < 3 * kBudget; ++i) {
      const double at = static_cast<double>(i);
      left_out |= curve.Add(at, i == 1'234 ? 100 : i == 5'432 ? -100 : std::sin(at), kBudget, spacing);
      ASSERT_LE(curve.x.size(), kBudget);
      ASSERT_EQ(curve.x.back(), at);
    }
    EXPECT_TRUE(left_out);
    EXPECT_GT(curve.x.size(), kBudget / 4);
    EXPECT_EQ(curve.points, 3 * kBudget);
    EXPECT_EQ(curve.x.front(), 0);
    EXPECT_EQ(*std::max_element(curve.y.begin(), curve.y.end()), 100);
    EXPECT_EQ(*std::min_element(curve.y.begin(), curve.y.end()), -100);
    EXPECT_TRUE(std::is_sorted(curve.x.begin(), curve.x.end()));
  }
}

TEST(GrowingCurve, KnowsTheNumberAndTheMeanOfWhatItLeavesOut) {
  constexpr std::size_t kBudget = 4'000;
  constexpr std::size_t kPoints = 3 * kBudget + 5;
  Curve curve;
  double sum = 0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double value = static_cast<double>(i % 17) + (i == 5'432 ? 1'000 : 0);
    curve.Add(static_cast<double>(i), value, kBudget);
    sum += value;
  }
  std::size_t points = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    points += curve.left_out[i] + 1;
    if (i > 0) {
      ASSERT_EQ(curve.x[i] - curve.x[i - 1], curve.left_out[i] + 1) << i;
    }
  }
  EXPECT_EQ(points, kPoints);
  EXPECT_NEAR(SumOf(curve), sum, 1e-6);
}

TEST(GrowingCurve, ThinsOutRarely) {
  constexpr std::size_t kBudget = 1'000;
  constexpr std::size_t kPoints = 100'000;
  Curve curve;
  std::size_t thinned = 0;
  for (std::size_t i = 0; i < kPoints; ++i) thinned += curve.Add(static_cast<double>(i), 0, kBudget) ? 1 : 0;
  EXPECT_LE(thinned, kPoints / (kBudget / 2));
}

// A step that a program made up must not lead outside of the intervals.
TEST(GrowingCurve, OmitsStepsThatNoFloatHas) {
  Curve curve;
  for (int i = 0; i < 5'000; ++i) curve.Add(i % 2 == 0 ? 1e308 : -1e308, i, 1'000);
  EXPECT_EQ(curve, Curve{});
  for (int i = 0; i < 5'000; ++i) curve.Add(i % 2 == 0 ? 3e38 : -3e38, i % 3 == 0 ? 3e38 : -3e38, 1'000);
  EXPECT_LE(curve.x.size(), 1'000U);
  EXPECT_EQ(curve.points, 5'000U);
}

}  // namespace
}  // namespace muster
