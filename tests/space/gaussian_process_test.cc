// Tests the regression that a sampler learns by: gradients against differences, closed forms, and what a fit recovers.
#include "space/gaussian_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster::testing {
namespace {

double At(std::size_t row, const char* what) { return Draw(1, row, what); }

// Three dimensions: two ordered, and one of two names.
GpRows SomeRows(std::size_t count) {
  GpRows rows{{0, 1, 2, 2}};
  for (std::size_t i = 0; i < count; ++i) {
    const double one = At(i, "name") < 0.5 ? std::numbers::sqrt2 / 2 : 0;
    rows.numbers.insert(rows.numbers.end(), {At(i, "x"), At(i, "y"), one, std::numbers::sqrt2 / 2 - one});
  }
  return rows;
}
// It changes with x fast, with y slowly, with the name not at all.
std::vector<double> SomeLosses(const GpRows& rows) {
  std::vector<double> losses;
  double mean = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    losses.push_back(std::sqrt(2) * std::sin(12 * rows.numbers[i * rows.width()]) + rows.numbers[i * rows.width() + 1]);
    mean += losses.back() / static_cast<double>(rows.size());
  }
  for (double& loss : losses) loss -= mean;
  return losses;
}

TEST(GaussianProcess, HasTheGradientOfItsPosterior) {
  const GpRows rows = SomeRows(25);
  const std::vector<double> losses = SomeLosses(rows);
  const std::vector<double> scales = {1.2, -0.4, 0.3, 0.2, -3};
  std::vector<double> gradient;
  LogPosteriorOf(rows, losses, scales, &gradient);
  ASSERT_EQ(gradient.size(), scales.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    constexpr double kStep = 1e-5;
    std::vector<double> above = scales;
    std::vector<double> below = scales;
    above[i] += kStep;
    below[i] -= kStep;
    const double slope =
        (LogPosteriorOf(rows, losses, above, nullptr) - LogPosteriorOf(rows, losses, below, nullptr)) / (2 * kStep);
    EXPECT_NEAR(gradient[i], slope, 1e-5 * std::max(1.0, std::abs(slope))) << i;
  }
}

TEST(GaussianProcess, FindsTheLengthsOfAFunction) {
  const GpRows rows = SomeRows(60);
  const GpScales scales = FitScales(rows, SomeLosses(rows));
  EXPECT_GT(scales.lengths[1], 3 * scales.lengths[0]);
  EXPECT_GT(scales.lengths[2], 3 * scales.lengths[0]) << "the names make no difference";
  EXPECT_LT(scales.noise, 1e-3);
  // A draw of the process itself.
  GpRows line{{0}};
  for (std::size_t i = 0; i < 80; ++i) line.numbers.push_back(At(i, "x"));
  std::vector<double> noisy;
  for (std::size_t i = 0; i < 80; ++i) {
    const double normal =
        std::sqrt(-2 * std::log1p(-At(i, "radius"))) * std::cos(2 * std::numbers::pi * At(i, "angle"));
    noisy.push_back(std::sin(8 * line.numbers[i]) + 0.3 * normal);
  }
  const double noise = FitScales(line, noisy).noise;
  EXPECT_GT(noise, 0.05) << "of 0.09";
  EXPECT_LT(noise, 0.15);
}

TEST(GaussianProcess, PredictsWhatIsKnownAndTheSlopesOfItsPredictions) {
  GpRows rows = SomeRows(30);
  const std::vector<double> losses = SomeLosses(rows);
  const GaussianProcess process(rows, losses, {{0.3, 1, 1}, 1.5, 1e-8});
  const auto known = process.At(rows);
  for (std::size_t i = 0; i < known.size(); ++i) {
    EXPECT_NEAR(known[i].mean, losses[i], 1e-4);
    EXPECT_LT(known[i].deviation, 1e-3);
  }
  const std::vector<double> row = {0.41, 0.57, 0.7, 0};
  std::vector<double> mean_slope;
  std::vector<double> deviation_slope;
  const auto here = process.At(row, mean_slope, deviation_slope);
  EXPECT_NEAR(process.At(GpRows{rows.dimension_of, row}).front().mean, here.mean, 1e-9);
  for (std::size_t i = 0; i < row.size(); ++i) {
    constexpr double kStep = 1e-5;
    std::vector<double> unused;
    std::vector<double> above = row;
    std::vector<double> below = row;
    above[i] += kStep;
    below[i] -= kStep;
    const auto up = process.At(above, unused, unused);
    const auto down = process.At(below, unused, unused);
    EXPECT_NEAR(mean_slope[i], (up.mean - down.mean) / (2 * kStep), 1e-4) << i;
    EXPECT_NEAR(deviation_slope[i], (up.deviation - down.deviation) / (2 * kStep), 1e-4) << i;
  }
}

TEST(GaussianProcess, IsCertainWhereAResultIsPending) {
  GpRows rows = SomeRows(11);
  std::vector<double> losses = SomeLosses(SomeRows(10));
  const std::vector<double> last(rows.numbers.end() - 4, rows.numbers.end());
  const GpScales scales{{0.3, 1, 1}, 1.5, 1e-8};
  const GaussianProcess with(rows, losses, scales);
  const GaussianProcess without(SomeRows(10), losses, scales);
  const GpRows there{rows.dimension_of, last};
  EXPECT_NEAR(with.At(there).front().mean, without.At(there).front().mean, 1e-9) << "nothing is known of it";
  EXPECT_LT(with.At(there).front().deviation, 1e-3);
  EXPECT_GT(without.At(there).front().deviation, 1e-2);
}

TEST(GaussianProcess, ExpectsImprovementByTheClosedFormAndFarIntoTheTail) {
  const double density = std::exp(-0.5) / std::sqrt(2 * std::numbers::pi);
  EXPECT_NEAR(LogImprovementOf(1).value, std::log(density + 0.8413447460685429), 1e-12);
  EXPECT_NEAR(LogImprovementOf(-1).value, std::log(density - 0.15865525393145707), 1e-12);
  // φ(z) + zΦ(z) at -10 and -40, by arithmetic with 50 digits.
  EXPECT_NEAR(std::exp(LogImprovementOf(-10).value) / 7.474560e-25, 1, 1e-4);
  double before = LogImprovementOf(-60).value;
  for (double z = -59.99; z < 5; z += 0.01) {
    const Sloped here = LogImprovementOf(z);
    EXPECT_GT(here.value, before) << z;
    const double slope = (LogImprovementOf(z + 1e-5).value - LogImprovementOf(z - 1e-5).value) / 2e-5;
    const bool at_seam = std::abs(z + 1) < 1e-4 || std::abs(z + 20) < 1e-4;  // between formulas
    if (!at_seam) {
      EXPECT_NEAR(here.slope / slope, 1, 1e-4) << z;
    }
    before = here.value;
  }
  EXPECT_NEAR(LogNormalBelow(0).value, std::log(0.5), 1e-12);
  EXPECT_NEAR(LogNormalBelow(-30).value, -454.32124395634, 1e-6);
}

TEST(GaussianProcess, MinimizesInABox) {
  const Minimized function = [](const std::vector<double>& x, std::vector<double>& gradient) {
    gradient = {-400 * x[0] * (x[1] - x[0] * x[0]) - 2 * (1 - x[0]), 200 * (x[1] - x[0] * x[0])};
    return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2);
  };
  const std::vector<double> inside = MinimizeInBox(function, {-1, 1}, -2, 2, 500);
  EXPECT_NEAR(inside[0], 1, 1e-3);
  const std::vector<double> at_side = MinimizeInBox(function, {-1, 0.2}, -2, 0.5, 500);
  EXPECT_NEAR(at_side[0], 0.5, 1e-3);
  EXPECT_NEAR(at_side[1], 0.25, 1e-3);
}

// By draws from two normal distributions.
TEST(HypervolumeImprovement, IsTheMeanOfWhatResultsAdd) {
  const std::vector<std::pair<double, double>> front = {{0, 1}, {0.5, 0.2}, {1, 0}, {0.8, 0.9}};
  const HypervolumeImprovement improvement(front);
  const auto area = [](std::vector<std::pair<double, double>> losses) {
    std::sort(losses.begin(), losses.end());
    double sum = 0;
    double below = 1.1;
    for (const auto& [first, second] : losses) {
      if (first >= 1.1 || second >= below) continue;
      sum += (1.1 - first) * (below - second);
      below = second;
    }
    return sum;
  };
  const double before = area(front);
  std::mt19937 random(7);
  for (const auto& [first, second] :
       {std::pair<GaussianProcess::Prediction, GaussianProcess::Prediction>{{0.4, 0.3}, {0.5, 0.2}},
        {{-0.5, 0.1}, {1.05, 0.3}},
        {{0.9, 0.5}, {0.9, 0.5}}}) {
    std::normal_distribution<double> one(first.mean, first.deviation);
    std::normal_distribution<double> other(second.mean, second.deviation);
    double sum = 0;
    constexpr int kDraws = 40'000;
    for (int i = 0; i < kDraws; ++i) {
      std::vector<std::pair<double, double>> with = front;
      with.emplace_back(one(random), other(random));
      sum += area(with) - before;
    }
    EXPECT_NEAR(std::exp(improvement.At(first, second).value), sum / kDraws, 0.02 * sum / kDraws + 1e-4);
  }
}

TEST(HypervolumeImprovement, HasTheGradientOfItsValue) {
  const HypervolumeImprovement improvement({{0, 1}, {0.5, 0.2}, {1, 0}});
  for (const double away : {0.0, 1.0, 30.0}) {
    const std::array<GaussianProcess::Prediction, 2> at = {{{0.4 + away, 0.3}, {0.5 + away, 0.2}}};
    const auto value = improvement.At(at[0], at[1]);
    ASSERT_TRUE(std::isfinite(value.value)) << away;
    constexpr double kStep = 1e-6;
    for (const std::size_t loss : {0U, 1U}) {
      for (const bool mean : {true, false}) {
        auto before = at;
        auto after = at;
        (mean ? before[loss].mean : before[loss].deviation) -= kStep;
        (mean ? after[loss].mean : after[loss].deviation) += kStep;
        const double slope =
            (improvement.At(after[0], after[1]).value - improvement.At(before[0], before[1]).value) / (2 * kStep);
        EXPECT_NEAR(mean ? value.by_mean[loss] : value.by_deviation[loss], slope, 1e-4 * (1 + std::abs(slope)));
      }
    }
  }
}

}  // namespace
}  // namespace muster::testing
