// Tests the shares of the variance on functions whose shares are known.
#include "space/functional_anova.h"

#include <cmath>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster::testing {
namespace {

Space UnitAxis(const std::string& name) {
  return {.kind = Space::Kind::kAxis, .axis = {.name = name, .kind = Axis::Kind::kUniform, .low = 0, .high = 1}};
}
Space ChoiceOf(const std::string& name, std::vector<Value> values) {
  return {.kind = Space::Kind::kAxis, .axis = {.name = name, .values = std::move(values)}};
}
const Space kUnitCube = {.parts = {UnitAxis("x"), UnitAxis("y"), UnitAxis("z")}};

using Function = std::function<double(const Point&)>;

std::optional<Importance> ImportanceIn(const Space& description, std::uint64_t trials, const Function& loss) {
  const auto space = CompiledSpace::Of(description);
  const auto sampler = Sampler::Of(*space, {SamplerChoice::Kind::kRandom, trials, 5});
  std::vector<std::pair<Point, double>> results;
  for (const Point& point : (*sampler)->Ask(0, (*sampler)->size())) results.emplace_back(point, loss(point));
  return ImportanceOf(*space, results);
}

std::map<std::string, double> SharesOf(const Importance& importance) {
  std::map<std::string, double> shares;
  for (const AxisImportance& axis : importance.axes) shares[axis.name] = axis.share;
  return shares;
}

double At(const Point& point, const char* name) { return point.at(name).Number(); }

TEST(FunctionalAnova, GivesAllToTheOnlyAxisThatMatters) {
  const auto importance = ImportanceIn(kUnitCube, 300, [](const Point& point) { return std::exp(5 * At(point, "y")); });
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->axes.front().name, "y");
  EXPECT_GT(importance->axes.front().share, 0.95);
  EXPECT_EQ(importance->trials, 300U);
}

// The variance of a sum is that of its terms: 4/5 and 1/5.
TEST(FunctionalAnova, FindsTheSharesOfASum) {
  const auto importance =
      ImportanceIn(kUnitCube, 1000, [](const Point& point) { return 2 * At(point, "x") + At(point, "y"); });
  ASSERT_TRUE(importance);
  auto shares = SharesOf(*importance);
  EXPECT_NEAR(shares["x"], 0.8, 0.06);
  EXPECT_NEAR(shares["y"], 0.2, 0.06);
  EXPECT_LT(shares["z"], 0.02);
}

TEST(FunctionalAnova, FindsWhatTwoAxesExplainOnlyTogether) {
  const auto importance = ImportanceIn(
      kUnitCube, 1000, [](const Point& point) { return (At(point, "x") > 0.5) == (At(point, "y") > 0.5) ? 1.0 : 0.0; });
  ASSERT_TRUE(importance);
  for (const AxisImportance& axis : importance->axes) EXPECT_LT(axis.share, 0.15) << axis.name;
  ASSERT_FALSE(importance->pairs.empty());
  const PairImportance& pair = importance->pairs.front();
  EXPECT_EQ(std::min(pair.one, pair.other), "x");
  EXPECT_EQ(std::max(pair.one, pair.other), "y");
  EXPECT_GT(pair.share, 0.7);
}

// A name of three that decides everything; and an axis that only one of them has.
TEST(FunctionalAnova, KnowsNamesAndConditionalAxes) {
  Space when{.kind = Space::Kind::kWhen, .parts = {UnitAxis("momentum")}, .condition = {{"optimizer", {Value("sgd")}}}};
  const Space space = {.parts = {ChoiceOf("optimizer", {"adam", "lamb", "sgd"}), UnitAxis("x"), when}};
  const auto importance = ImportanceIn(space, 400, [](const Point& point) {
    return *point.at("optimizer").AsString() == "lamb" ? 1.0 : 0.001 * At(point, "x");
  });
  ASSERT_TRUE(importance);
  EXPECT_EQ(importance->axes.front().name, "optimizer");
  for (const AxisImportance& axis : importance->axes) {
    if (axis.name != "momentum") continue;
    EXPECT_LT(axis.trials, 200U) << "of 400, of which a third has it";
    EXPECT_LT(axis.share, 0.05);
  }
  const auto of_momentum = ImportanceIn(
      space, 400, [](const Point& point) { return point.contains("momentum") ? 0.5 + At(point, "momentum") : 1.0; });
  EXPECT_GT(SharesOf(*of_momentum)["momentum"], 0.2);
  EXPECT_LT(SharesOf(*of_momentum)["x"], 0.05);
}

TEST(FunctionalAnova, IsTheSameEveryTime) {
  const auto loss = [](const Point& point) { return At(point, "x") * At(point, "y"); };
  const auto one = ImportanceIn(kUnitCube, 60, loss);
  const auto other = ImportanceIn(kUnitCube, 60, loss);
  EXPECT_EQ(one->axes, other->axes);
  EXPECT_EQ(one->pairs, other->pairs);
}

TEST(FunctionalAnova, SaysNothingFromFewOrEqualResults) {
  const auto loss = [](const Point& point) { return At(point, "x"); };
  EXPECT_FALSE(ImportanceIn(kUnitCube, kMinImportanceTrials - 1, loss));
  EXPECT_TRUE(ImportanceIn(kUnitCube, kMinImportanceTrials, loss));
  EXPECT_FALSE(ImportanceIn(kUnitCube, 50, [](const Point&) { return 1.0; }));
}

}  // namespace
}  // namespace muster::testing
