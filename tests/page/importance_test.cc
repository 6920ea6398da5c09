// Tests the importance of parameters with values computed independently, and what distinguishes the best trials.
#include "page/collect/importance.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace muster {
namespace {

ImportanceAxis Whole(std::string name, double low, double high, std::vector<double> values) {
  return {.name = std::move(name), .whole = true, .low = low, .high = high, .values = std::move(values)};
}

ImportanceAxis Choice(std::string name, std::size_t choices, std::vector<double> values) {
  return {.name = std::move(name), .choice = true, .choices = choices, .values = std::move(values)};
}

// Expected values: Optuna's PedAnovaImportanceEvaluator, evaluate_on_local = True.
TEST(PedAnova, AgreesWithOptuna) {
  const std::vector<ImportanceAxis> axes = {Whole("width", 1, 4, {1, 1, 2, 2, 3, 3, 4, 4, 2, 3}),
                                            Choice("opt", 2, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1})};
  const std::vector<double> losses = {.9, 1, .4, .5, .2, .3, .7, .8, .45, .25};
  const auto at = [&](double gamma) { return PedAnova(axes, losses, gamma); };
  EXPECT_NEAR(at(0.1)[0], 0.0041775, 5e-8);
  EXPECT_NEAR(at(0.1)[1], 0.000625, 5e-8);
  EXPECT_NEAR(at(0.2)[0], 0.03111703, 5e-9);
  EXPECT_NEAR(at(0.2)[1], 0, 5e-9);
  EXPECT_NEAR(at(0.4)[0], 0.06030243, 5e-9);
  EXPECT_NEAR(at(0.4)[1], 0, 5e-9);
}

TEST(PedAnova, FindsTheParameterThatMatters) {
  ImportanceAxis rate{.name = "rate", .log = true, .low = 1e-5, .high = 1};
  ImportanceAxis noise{.name = "noise", .low = 0, .high = 1};
  std::vector<double> losses;
  for (int i = 0; i < 400; ++i) {
    rate.values.push_back(std::pow(10, -5 + 5 * (i * 37 % 400) / 400.0));
    noise.values.push_back((i * 91 % 400) / 400.0);
    losses.push_back(std::abs(std::log10(rate.values.back()) + 3));
  }
  const auto found = PedAnova({rate, noise}, losses);
  EXPECT_GT(found[0], found[1] * 20);
}

TEST(PedAnova, LeavesOutTrialsWithoutTheParameter) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> losses = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(PedAnova({Choice("a", 2, {none, none, none, none, none, none})}, losses), std::vector<double>{0});
  EXPECT_GE(PedAnova({Choice("a", 2, {0, none, 1, none, 1, none})}, losses)[0], 0);
}

TEST(GridMeans, SharesTheVarianceOfACompleteGrid) {
  const std::vector<ImportanceAxis> axes = {Choice("row", 3, {0, 0, 1, 1, 2, 2}),
                                            Choice("column", 2, {0, 1, 0, 1, 0, 1})};
  const auto effects = GridMeans(axes, {1, 2, 2, 3.5, 4, 5.5});
  ASSERT_TRUE(effects);
  EXPECT_NEAR(effects->shares[0], 0.7963, 5e-5);
  EXPECT_NEAR(effects->shares[1], 0.1975, 5e-5);
  EXPECT_NEAR(effects->interaction, 0.0062, 5e-5);
}

TEST(GridMeans, NeedsACompleteGrid) {
  EXPECT_FALSE(GridMeans({Choice("a", 2, {0, 0, 1}), Choice("b", 2, {0, 1, 0})}, {1, 2, 3}));
  EXPECT_FALSE(GridMeans({Choice("a", 2, {0, 1, 1})}, {1, 2, 3}));       // not equally often
  EXPECT_FALSE(GridMeans({Choice("a", 2, {0, 1})}, {1, 1}));             // nothing to explain
  EXPECT_TRUE(GridMeans({Choice("a", 2, {0, 1, 0, 1})}, {1, 2, 1, 2}));  // repeated
}

TEST(Distinctions, NameTheRangeOrChoiceOfTheBest) {
  ImportanceAxis rate{.name = "rate", .log = true, .low = 1e-5, .high = 1};
  ImportanceAxis seed{.name = "seed", .low = 0, .high = 100};
  ImportanceAxis optimizer = Choice("optimizer", 2, {});
  std::vector<double> losses;
  for (int i = 0; i < 100; ++i) {
    rate.values.push_back(std::pow(10, -5 + i * 0.05));
    seed.values.push_back(i * 37 % 101);
    optimizer.values.push_back(i % 2);
    losses.push_back(std::abs(i - 50) + (i % 2) * 20);
  }
  const auto found = Distinctions({rate, seed, optimizer}, {{}, {}, {"adam", "sgd"}}, losses);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], (Distinction{"rate", "0.001 to 0.01", "1e-05 to 0.891"}));
  EXPECT_EQ(BestTrials(losses).size(), 11U) << "the eleventh is as good as the tenth";
  EXPECT_EQ(found[1], (Distinction{"optimizer", "adam in 11 of 11", "50 %"}));
}

TEST(Distinctions, AreNoneBetweenEqualResults) {
  ImportanceAxis rate{.name = "rate", .low = 0, .high = 20};
  std::vector<double> losses;
  for (int i = 0; i < 20; ++i) {
    rate.values.push_back(i);
    losses.push_back(i % 2 == 0 ? 0.1 + 0.2 : 0.3);  // as sums in another order
  }
  EXPECT_EQ(Distinctions({rate}, {{}}, losses), std::vector<Distinction>{});
  EXPECT_EQ(GridMeans({rate}, losses), std::nullopt);
  EXPECT_FALSE(Vary(losses));
  losses.back() = 0.2999;
  EXPECT_TRUE(Vary(losses));
  losses.assign(20, 1);
  losses[3] = losses[4] = losses[5] = 0;
  EXPECT_EQ(Distinctions({rate}, {{}}, losses), (std::vector<Distinction>{{"rate", "3 to 5", "0 to 19"}}))
      << "three trials are the best ones";
}

}  // namespace
}  // namespace muster
