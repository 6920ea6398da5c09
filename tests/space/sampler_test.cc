#include "space/sampler.h"

#include <set>

#include <gtest/gtest.h>

namespace muster::testing {
namespace {

using Kind = SamplerChoice::Kind;

Space AxisSpace(Axis axis) {
  Space space;
  space.kind = Space::Kind::kAxis;
  space.axis = std::move(axis);
  return space;
}
const Space kCounted = [] {
  Space product;
  product.parts = {AxisSpace({"a", Axis::Kind::kRange, {}, 0, 11, 1, true}),
                   AxisSpace({"b", Axis::Kind::kChoice, {1, 2, 3, 4}})};
  return product;
}();
const Space kContinuous = [] {
  Space product;
  product.parts = {AxisSpace({"lr", Axis::Kind::kLogUniform, {}, 1e-5, 1e-3}),
                   AxisSpace({"b", Axis::Kind::kChoice, {1, 2, 3, 4}})};
  return product;
}();

std::vector<std::string> PointsOf(const Space& description, const SamplerChoice& choice) {
  const auto space = CompiledSpace::Of(description);
  auto sampler = Sampler::Of(*space, choice);
  if (!sampler) return {sampler.error().at(0).message};
  std::vector<std::string> points;
  for (std::uint64_t i = 0; i < sampler->size(); ++i) points.push_back(PointText(sampler->At(i)));
  return points;
}

TEST(Sampler, VisitsEveryPointOfAGridOnce) {
  const auto points = PointsOf(kCounted, {});
  ASSERT_EQ(points.size(), 48U);
  EXPECT_EQ(points[5], "a=1, b=2");
  SamplerChoice some;
  some.trials = 5;
  EXPECT_EQ(PointsOf(kCounted, some).size(), 5U);
}

TEST(Sampler, DrawsNoCountedPointTwice) {
  SamplerChoice random{Kind::kRandom, 20, 7};
  const auto points = PointsOf(kCounted, random);
  EXPECT_EQ(std::set<std::string>(points.begin(), points.end()).size(), 20U);
  random.trials = 1000;
  EXPECT_EQ(PointsOf(kCounted, random).size(), 48U) << "there are no more";
  random.seed = 8;
  random.trials = 20;
  EXPECT_NE(PointsOf(kCounted, random), points);
}

TEST(Sampler, AssignsEachTrialToOneShard) {
  for (const Kind kind : {Kind::kGrid, Kind::kRandom, Kind::kSobol}) {
    SamplerChoice all{kind, 30, 3};
    const auto together = PointsOf(kContinuous, all);
    if (kind == Kind::kGrid) continue;  // tested below
    std::multiset<std::string> dealt;
    for (std::uint64_t shard = 0; shard < 4; ++shard) {
      SamplerChoice one = all;
      one.shard = shard;
      one.shards = 4;
      for (const std::string& point : PointsOf(kContinuous, one)) dealt.insert(point);
    }
    EXPECT_EQ(dealt, std::multiset<std::string>(together.begin(), together.end()));
  }
  SamplerChoice third{Kind::kGrid, {}, 0};
  third.shard = 2;
  third.shards = 5;
  EXPECT_EQ(PointsOf(kCounted, third).size(), 10U);
  third.shard = 3;
  EXPECT_EQ(PointsOf(kCounted, third).size(), 9U);
}

TEST(Sampler, SpreadsSobolPointsOverChoicesEvenly) {
  SamplerChoice sobol{Kind::kSobol, 64, 7};
  std::map<char, int> last;
  for (const std::string& point : PointsOf(kContinuous, sobol)) ++last[point[2]];
  for (const auto& [value, count] : last) EXPECT_EQ(count, 16) << value;
}

TEST(Sampler, ReportsWhyASpaceIsUnsuitable) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(PointsOf(kContinuous, {}),
            Lines{"a grid needs discrete values, but there is lr in log_uniform(1e-05, 0.001)"});
  EXPECT_EQ(PointsOf(kContinuous, {Kind::kSobol}), Lines{"missing number of trials"});
  SamplerChoice shard;
  shard.shard = 4;
  shard.shards = 4;
  EXPECT_EQ(PointsOf(kCounted, shard), Lines{"shard 4 of 4: there is no such one"});
  EXPECT_EQ(PointsOf(kCounted, {Kind::kRandom, 0}), Lines{"a sweep of no trials tries nothing"});
}

}  // namespace
}  // namespace muster::testing
