#include "space/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <utility>

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
  for (const Point& point : (*sampler)->Ask(0, (*sampler)->size())) points.push_back(PointText(point));
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

Space FixedPoint(Point point) {
  Space space;
  space.kind = Space::Kind::kFixed;
  space.fixed = std::move(point);
  return space;
}
Space ProductOf(std::vector<Space> parts) {
  Space space;
  space.parts = std::move(parts);
  return space;
}
Space UnionOf(std::vector<Space> parts, std::vector<double> weights = {}) {
  Space space;
  space.kind = Space::Kind::kUnion;
  space.parts = std::move(parts);
  space.weights = std::move(weights);
  return space;
}
Space RangeOf(const std::string& name, double high) {
  return AxisSpace({name, Axis::Kind::kRange, {}, 0, high, 1, true});
}
// A branch with a continuous parameter, and one with a list.
Space Optimizers(std::vector<double> weights) {
  return UnionOf(
      {ProductOf({FixedPoint({{"optimizer", "sgd"}}), AxisSpace({"momentum", Axis::Kind::kUniform, {}, 0, 0.99})}),
       ProductOf({FixedPoint({{"optimizer", "adam"}}), AxisSpace({"beta2", Axis::Kind::kChoice, {0.9, 0.99, 0.999}})})},
      std::move(weights));
}
int CountWith(const std::vector<std::string>& points, const std::string& part) {
  return static_cast<int>(
      std::count_if(points.begin(), points.end(), [&](const auto& point) { return point.find(part) != point.npos; }));
}

// Of 150 even draws 75 ± 6.1 are of either branch: for 40 seeds, each within four and their mean within three standard
// deviations. By the number of points 37.5 would be.
TEST(Sampler, DrawsTheBranchesOfAUnionEvenlyWhateverTheirPoints) {
  constexpr int kSeeds = 40;
  int all = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto points = PointsOf(Optimizers({1, 1}), {Kind::kRandom, 150, seed});
    const int sgd = CountWith(points, "sgd");
    EXPECT_NEAR(sgd, 75, 4 * 6.124) << "seed " << seed;
    all += sgd;
    EXPECT_EQ(points, PointsOf(Optimizers({1, 1}), {Kind::kRandom, 150, seed}));
  }
  EXPECT_NEAR(static_cast<double>(all) / kSeeds, 75, 3 * 6.124 / std::sqrt(kSeeds));
  EXPECT_EQ(CountWith(PointsOf(Optimizers({1, 1}), {Kind::kSobol, 128, 7}), "sgd"), 64);
  EXPECT_EQ(CountWith(PointsOf(Optimizers({3, 1}), {Kind::kSobol, 128, 7}), "sgd"), 96);
  EXPECT_NEAR(CountWith(PointsOf(Optimizers({3, 1}), {Kind::kRandom, 4000, 7}), "sgd"), 3000, 4 * 27.4);
}

TEST(Sampler, DrawsNestedUnionsIndependently) {
  const Space space = UnionOf(
      {AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}),
       UnionOf({AxisSpace({"x", Axis::Kind::kUniform, {}, 1, 2}), AxisSpace({"x", Axis::Kind::kUniform, {}, 2, 3})},
               {1, 1})},
      {1, 1});
  const auto compiled = CompiledSpace::Of(space);
  for (const Kind kind : {Kind::kRandom, Kind::kSobol}) {
    auto sampler = Sampler::Of(*compiled, {kind, 4096, 3});
    std::map<int, int> quarters;  // of each whole number
    for (std::uint64_t i = 0; i < 4096; ++i) ++quarters[static_cast<int>(*(*sampler)->At(i).at("x").AsDouble() * 4)];
    for (int quarter = 0; quarter < 12; ++quarter) {
      const double expected = quarter < 4 ? 512 : 256;
      EXPECT_NEAR(quarters[quarter], expected, 5 * std::sqrt(expected)) << quarter;
    }
  }
}

TEST(Sampler, DrawsCountedPointsOfUnevenBranchesOnceAndByWeight) {
  const Space space = UnionOf({RangeOf("a", 9), RangeOf("b", 999)}, {1, 1});
  const auto few = PointsOf(space, {Kind::kRandom, 16, 3});
  EXPECT_GE(CountWith(few, "a="), 4) << "of 16 even draws; by points there would be none";
  const auto all = PointsOf(space, {Kind::kRandom, 5000, 3});
  EXPECT_EQ(all.size(), 1010U) << "there are no more";
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 1010U) << "each once";
  const Space heavy = UnionOf({RangeOf("a", 9), RangeOf("b", 999)}, {1e6, 1});
  const auto first = PointsOf(heavy, {Kind::kRandom, 300, 3});
  EXPECT_EQ(CountWith({first.begin(), first.begin() + 10}, "a="), 10);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()).size(), 300U);
  // A point of both branches exists once; the numbers of trials stay those of the space.
  EXPECT_EQ(PointsOf(UnionOf({RangeOf("a", 1), RangeOf("a", 3)}, {1, 1}), {Kind::kRandom, 6, 3}).size(), 6U);
}

TEST(Sampler, DrawsConditionalCasesEvenly) {
  Space when;
  when.kind = Space::Kind::kWhen;
  when.condition = {{"optimizer", {"adam"}}};
  when.parts = {RangeOf("beta", 99)};
  const Space space =
      ProductOf({AxisSpace({"optimizer", Axis::Kind::kChoice, {"adam", "sgd", "lamb"}}), when, RangeOf("n", 99)});
  const auto points = PointsOf(space, {Kind::kRandom, 150, 5});
  EXPECT_NEAR(CountWith(points, "adam"), 50, 4 * 5.8);
  EXPECT_EQ(std::set<std::string>(points.begin(), points.end()).size(), 150U);
}

// A sweep that began before unions had weights continues with the points that it would have had.
TEST(Sampler, KeepsTheDrawsOfSweepsWithoutWeights) {
  using Lines = std::vector<std::string>;
  const auto first = [](const Space& space, Kind kind) {
    SamplerChoice choice{kind, 150, 7};
    choice.weighted = false;
    Lines points = PointsOf(space, choice);
    points.resize(6);
    return points;
  };
  EXPECT_EQ(
      first(Optimizers({}), Kind::kRandom),
      (Lines{"beta2=0.999, optimizer=adam", "momentum=0.575054, optimizer=sgd", "beta2=0.99, optimizer=adam",
             "momentum=0.269775, optimizer=sgd", "momentum=0.920524, optimizer=sgd", "beta2=0.9, optimizer=adam"}));
  EXPECT_EQ(first(Optimizers({}), Kind::kSobol),
            (Lines{"momentum=0.803795, optimizer=sgd", "beta2=0.99, optimizer=adam", "beta2=0.9, optimizer=adam",
                   "beta2=0.999, optimizer=adam", "beta2=0.99, optimizer=adam", "beta2=0.9, optimizer=adam"}));
  const Space counted = UnionOf({AxisSpace({"a", Axis::Kind::kChoice, {1, 2}}), RangeOf("b", 9)});
  EXPECT_EQ(first(counted, Kind::kRandom), (Lines{"b=5", "a=2", "b=7", "a=1", "b=4", "b=1"}));
  EXPECT_EQ(first(counted, Kind::kSobol), (Lines{"b=0", "b=6", "b=3", "b=9", "b=5", "b=1"}));
  const auto x = [](double low, double high) { return AxisSpace({"x", Axis::Kind::kUniform, {}, low, high}); };
  const Space nested = UnionOf({x(0, 1), UnionOf({x(1, 2), x(2, 3)})});
  EXPECT_EQ(first(nested, Kind::kRandom),
            (Lines{"x=0.326145", "x=2.98171", "x=1.48704", "x=1.4279", "x=0.0298629", "x=2.50437"}));
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

// A sampler that learns, whose trials have the loss of a function; those for which it has none fail.
struct Learning {
  using Loss = std::function<TrialResult(const Point&)>;

  Learning(const Space& description, std::uint64_t trials, Loss of, Kind by = Kind::kTpe)
      : space(*CompiledSpace::Of(description)), loss(std::move(of)), kind(by) {
    Begin(trials);
  }
  void Begin(std::uint64_t trials) {
    sampler = *Sampler::Of(space, {kind, trials, 3});
    reported = points.size();
  }
  // Asks for this many trials at a time, and tells their results, until there are so many.
  void RunTo(std::size_t trials, std::uint64_t batch = 1) {
    while (reported < std::min<std::size_t>(trials, sampler->size())) {
      const auto asked = sampler->Ask(reported, std::min(batch, sampler->size() - reported));
      ASSERT_FALSE(asked.empty());
      points.resize(reported);
      points.insert(points.end(), asked.begin(), asked.end());
      for (; reported < points.size(); ++reported) sampler->Tell(reported, loss(points[reported]));
    }
  }
  // As when the sweep is resumed after so many trials.
  void ResumeAfter(std::size_t trials) {
    points.resize(trials);
    Begin(sampler->size());
    sampler->Recall(0, points);
    for (std::size_t i = 0; i < trials; ++i) sampler->Tell(i, loss(points[i]));
  }
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (const Point& point : points) texts.push_back(PointText(point));
    return texts;
  }

  CompiledSpace space;
  Loss loss;
  Kind kind;
  std::unique_ptr<Sampler> sampler;
  std::vector<Point> points;
  std::size_t reported = 0;
};

Space WhenOptimizer(const char* optimizer, Space axis) {
  Space when;
  when.kind = Space::Kind::kWhen;
  when.condition = {{"optimizer", {optimizer}}};
  when.parts = {std::move(axis)};
  return when;
}
// Axes of every kind, of which each optimizer has one of its own.
const Space kMixed =
    ProductOf({AxisSpace({"optimizer", Axis::Kind::kChoice, {"adam", "sgd"}}),
               AxisSpace({"lr", Axis::Kind::kLogUniform, {}, 1e-5, 1e-1}),
               AxisSpace({"units", Axis::Kind::kIntLogUniform, {}, 1, 64}), FixedPoint({{"layers", 4}}),
               WhenOptimizer("adam", AxisSpace({"beta", Axis::Kind::kUniform, {}, 0.5, 1})),
               WhenOptimizer("sgd", AxisSpace({"momentum", Axis::Kind::kUniform, {}, 0, 0.99}))});
std::optional<double> MixedLoss(const Point& point) {
  const bool adam = *point.at("optimizer").AsString() == "adam";
  const double own =
      adam ? 0.5 + std::abs(point.at("beta").Number() - 0.9) : std::abs(point.at("momentum").Number() - 0.9);
  return own + std::abs(std::log10(point.at("lr").Number()) + 2) + std::abs(std::log2(point.at("units").Number()) - 4);
}

TEST(TpeSampler, TriesTheSamePointsWithTheSameSeedAndAfterAnyInterruption) {
  for (const std::uint64_t batch : {1, 4}) {
    Learning whole(kMixed, 40, MixedLoss);
    whole.RunTo(40, batch);
    for (std::size_t cut = 0; cut < 40; cut += batch) {
      Learning cut_short(kMixed, 40, MixedLoss);
      cut_short.RunTo(cut, batch);
      cut_short.ResumeAfter(cut);
      cut_short.RunTo(40, batch);
      EXPECT_EQ(cut_short.Texts(), whole.Texts()) << cut;
    }
  }
}

TEST(TpeSampler, ComesCloserThanRandomDraws) {
  Learning tpe(kMixed, 80, MixedLoss);
  tpe.RunTo(80);
  const auto random = *Sampler::Of(tpe.space, {Kind::kRandom, 80, 3});
  const auto mean_of = [](const std::vector<Point>& points) {
    double sum = 0;
    for (auto point = points.end() - 40; point != points.end(); ++point) sum += *MixedLoss(*point);
    return sum / 40;
  };
  EXPECT_LT(mean_of(tpe.points), mean_of(random->Ask(0, 80)) / 2);
  const auto texts = tpe.Texts();
  EXPECT_EQ(CountWith(texts, "layers=4"), 80);
  EXPECT_EQ(CountWith(texts, "beta="), CountWith(texts, "optimizer=adam"));
}

TEST(TpeSampler, GivesAsManyPointsAsAskedWhileOthersRun) {
  Learning tpe(kMixed, 60, MixedLoss);
  tpe.RunTo(20);
  const auto asked = tpe.sampler->Ask(20, 30);
  ASSERT_EQ(asked.size(), 30U);
  std::set<std::string> distinct;
  for (const Point& point : asked) distinct.insert(PointText(point));
  EXPECT_EQ(distinct.size(), 30U);
  EXPECT_EQ(tpe.sampler->Ask(20, 30), asked) << "those asked for before stay the same";
  EXPECT_EQ(tpe.sampler->At(25), asked[5]);
}

TEST(TpeSampler, TriesEveryPointOfACountedSpaceOnce) {
  Learning tpe(kCounted, 1000, [](const Point& point) { return point.at("a").Number(); });
  tpe.RunTo(1000, 3);
  const auto texts = tpe.Texts();
  EXPECT_EQ(texts.size(), 48U) << "there are no more";
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 48U);
}

TEST(TpeSampler, LearnsNothingBadFromPointsThatAreImpossible) {
  const Space space = ProductOf({AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}), RangeOf("n", 3)});
  const auto loss = [](const Point& point) { return point.at("x").Number(); };
  Learning one(space, 60, loss);
  one.RunTo(20);
  Learning other(space, 60, loss);
  other.RunTo(20);
  // Whatever was said of impossible trials before the last time does not count.
  other.sampler->Ask(20, 1);
  other.sampler->Tell(20, 5.0);
  other.sampler->TellImpossible(20);
  one.sampler->Ask(20, 1);
  one.sampler->TellImpossible(20);
  EXPECT_EQ(one.sampler->Ask(21, 5), other.sampler->Ask(21, 5));
  Learning some(RangeOf("n", 99), 100, loss);
  std::set<std::string> tried;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const auto asked = some.sampler->Ask(trial, 1);
    EXPECT_TRUE(tried.insert(PointText(asked.front())).second) << "again";
    some.sampler->TellImpossible(trial);
  }
}

TEST(TpeSampler, AvoidsWhatFails) {
  const auto fails_above = [](const Point& point) -> std::optional<double> {
    if (point.at("x").Number() > 0.5) return std::nullopt;
    return std::abs(0.3 - point.at("x").Number());
  };
  Learning tpe(AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}), 60, fails_above);
  tpe.RunTo(60);
  const auto failed =
      std::count_if(tpe.points.begin() + 20, tpe.points.end(), [&](const Point& point) { return !fails_above(point); });
  EXPECT_LT(failed, 10) << "of 40, of which half of the draws at random do";
  Learning never(AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}), 30, [](const Point&) { return std::nullopt; });
  never.RunTo(30);
  EXPECT_EQ(never.points.size(), 30U);
}

// At rung 0 losses are small where x is small, at rung 1 where x is large, and all losses of rung 1 are the larger
// ones.
class LearningAtRungs : public ::testing::TestWithParam<Kind> {
 protected:
  // The share of the last 20 of 60 points that are above 0.5, after so many reports at rung 1.
  double ShareAbove(std::uint64_t reports_at_rung_1) const {
    const auto space = CompiledSpace::Of(ProductOf({AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1})}));
    const auto sampler = *Sampler::Of(*space, {GetParam(), 60, 5});
    double above = 0;
    for (std::uint64_t trial = 0; trial < 60; ++trial) {
      const double x = sampler->Ask(trial, 1).front().at("x").Number();
      above += trial >= 40 && x > 0.5 ? 1.0 / 20 : 0;
      sampler->TellRung(trial, 0, x);
      if (trial < reports_at_rung_1) sampler->TellRung(trial, 1, 10 - x);
      sampler->TellStopped(trial, trial < reports_at_rung_1 ? 10 - x : x);
    }
    return above;
  }
};

TEST_P(LearningAtRungs, LearnsFromTheHighestWithEnoughResults) {
  EXPECT_LT(ShareAbove(0), 0.2);
  EXPECT_LT(ShareAbove(9), 0.2) << "nine are too few";
  EXPECT_GT(ShareAbove(30), 0.8);
}

INSTANTIATE_TEST_SUITE_P(Samplers, LearningAtRungs, ::testing::Values(Kind::kTpe, Kind::kGp),
                         [](const auto& test) { return std::string(KindOf({test.param}).name); });

TEST(GpSampler, TriesTheSamePointsWithTheSameSeedAndAfterAnyInterruption) {
  for (const std::uint64_t batch : {1, 4}) {
    Learning whole(kMixed, 48, MixedLoss, Kind::kGp);
    whole.RunTo(48, batch);
    for (const std::size_t cut : {1, 8, 9, 10, 11, 12, 13, 20, 21, 31, 44, 47}) {
      if (cut % batch != 0) continue;  // then other trials run at once
      Learning cut_short(kMixed, 48, MixedLoss, Kind::kGp);
      cut_short.RunTo(cut, batch);
      cut_short.ResumeAfter(cut);
      cut_short.RunTo(48, batch);
      EXPECT_EQ(cut_short.Texts(), whole.Texts()) << cut;
    }
  }
}

// A sweep of which some trials run at any time and end in another order than they began, as its journal has it: a trial
// is asked for, or has ended. Cut before each trial, a sampler that gets what is in the journal suggests that trial.
// Returns the number of cuts.
std::size_t CutBeforeEachTrial(Kind kind, std::uint64_t trials, std::size_t at_once, std::uint64_t seed) {
  const auto space = CompiledSpace::Of(kMixed);
  const SamplerChoice choice{kind, trials, seed};
  const auto whole = *Sampler::Of(*space, choice);
  struct Entry {
    std::uint64_t trial;
    bool ended;
  };
  std::vector<Entry> journal;
  std::vector<Point> points;
  std::vector<std::uint64_t> running;
  for (std::uint64_t next = 0; next < trials;) {
    if (running.size() == at_once) {
      const std::size_t ends = next * 7 % at_once;
      whole->Tell(running[ends], MixedLoss(points[running[ends]]));
      journal.push_back({running[ends], true});
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(ends));
      continue;
    }
    const auto resumed = *Sampler::Of(*space, choice);
    for (const auto& [trial, ended] : journal) {
      if (ended) {
        resumed->Tell(trial, MixedLoss(points[trial]));
      } else {
        resumed->Recall(trial, {points[trial]});
      }
    }
    points.push_back(whole->Ask(next, 1).front());
    EXPECT_EQ(PointText(resumed->Ask(next, 1).front()), PointText(points.back())) << next << " with seed " << seed;
    journal.push_back({next, false});
    running.push_back(next++);
  }
  return trials;
}

SamplerChoice Knowing(Kind kind, std::uint64_t trials, const std::vector<Point>& points) {
  SamplerChoice choice{kind, trials, 3};
  choice.given.sweep = "5e11ab1e0001";
  choice.given.points = points;
  for (const Point& point : points) choice.given.losses.push_back(*MixedLoss(point));
  return choice;
}

TEST(GivenSampler, LearnsFromAnotherSweepBeforeItsFirstTrial) {
  const auto space = CompiledSpace::Of(kMixed);
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    Learning other(kMixed, 60, MixedLoss, kind);
    other.RunTo(60);
    const SamplerChoice choice = Knowing(kind, 5, other.points);
    const auto sampler = *Sampler::Of(*space, choice);
    EXPECT_EQ(sampler->size(), 5U);
    const SuggestedPoint first = sampler->Explain(0);
    EXPECT_EQ(first.results, 60U);
    EXPECT_NE(first.how, SuggestedPoint::How::kDrawn);
    const auto asked = sampler->Ask(0, 1);
    EXPECT_EQ(asked.front(), first.point);
    // As the sixty-first trial of that sweep.
    Learning longer(kMixed, 61, MixedLoss, kind);
    longer.RunTo(60);
    EXPECT_EQ(longer.sampler->Ask(60, 1), asked);
    // And after an interruption.
    sampler->Tell(0, MixedLoss(asked.front()));
    const auto resumed = *Sampler::Of(*space, choice);
    resumed->Recall(0, asked);
    resumed->Tell(0, MixedLoss(asked.front()));
    EXPECT_EQ(resumed->Ask(1, 1), sampler->Ask(1, 1));
    for (const SuggestedPoint::Near& near : resumed->Explain(2).near) {
      EXPECT_TRUE(!near.trial || *near.trial < 2U);
    }
  }
}

TEST(GivenSampler, RepeatsNoPointAndNeedsASamplerThatLearns) {
  Learning half(kCounted, 24, [](const Point& point) { return point.at("a").Number(); });
  half.RunTo(24);
  SamplerChoice choice{Kind::kTpe, 1000, 3};
  choice.given.points = half.points;
  choice.given.losses.assign(24, 1.0);
  const auto sampler = *Sampler::Of(half.space, choice);
  EXPECT_EQ(sampler->size(), 24U) << "of 48";
  std::set<std::string> points;
  for (const Point& point : half.points) points.insert(PointText(point));
  for (const Point& point : sampler->Ask(0, 24)) points.insert(PointText(point));
  EXPECT_EQ(points.size(), 48U);
  choice.kind = Kind::kRandom;
  EXPECT_EQ(Sampler::Of(half.space, choice).error().front().message,
            "random does not learn from results, those of another sweep included");
  choice.kind = Kind::kTpe;
  choice.given.points.insert(choice.given.points.end(), half.points.begin(), half.points.end());
  EXPECT_EQ(Sampler::Of(half.space, choice).error().front().message, "results without points");
}

const bool kLong = std::getenv("MUSTER_LONG") != nullptr;

TEST(TpeSampler, SuggestsTheSameAfterAThousandCuts) {
  std::size_t cuts = 0;
  for (const std::size_t at_once : {1, 2, 4, 8}) cuts += CutBeforeEachTrial(Kind::kTpe, 250, at_once, at_once);
  EXPECT_EQ(cuts, 1000U);
}

TEST(GpSampler, SuggestsTheSameAfterCutsEverywhere) {
  std::size_t cuts = 0;
  for (std::uint64_t seed = 0; seed < (kLong ? 10 : 1); ++seed) {
    for (const std::size_t at_once : {1, 4}) cuts += CutBeforeEachTrial(Kind::kGp, 50, at_once, seed);
  }
  EXPECT_EQ(cuts, kLong ? 1000U : 100U);
}

TEST(GpSampler, FindsTheBestOfMixedAndConditionalAxes) {
  Learning gp(kMixed, 60, MixedLoss, Kind::kGp);
  gp.RunTo(60);
  const auto least_of = [](const std::vector<Point>& points) {
    double least = 1e9;
    for (const Point& point : points) least = std::min(least, *MixedLoss(point));
    return least;
  };
  const auto random = *Sampler::Of(gp.space, {Kind::kRandom, 60, 3});
  EXPECT_LT(least_of(gp.points), 0.1);
  EXPECT_LT(least_of(gp.points), least_of(random->Ask(0, 60)) / 2);
  const auto texts = gp.Texts();
  EXPECT_EQ(CountWith(texts, "beta="), CountWith(texts, "optimizer=adam"));
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 60U);
}

TEST(GpSampler, GivesDistinctPointsWhileOthersRun) {
  Learning gp(kMixed, 60, MixedLoss, Kind::kGp);
  gp.RunTo(20);
  const auto asked = gp.sampler->Ask(20, 12);
  std::set<std::string> distinct;
  for (const Point& point : asked) distinct.insert(PointText(point));
  EXPECT_EQ(distinct.size(), 12U);
  EXPECT_EQ(gp.sampler->Ask(20, 12), asked);
}

TEST(GpSampler, TriesEveryPointOfACountedSpaceOnce) {
  Learning gp(
      kCounted, 1000, [](const Point& point) { return point.at("a").Number(); }, Kind::kGp);
  gp.RunTo(1000, 3);
  const auto texts = gp.Texts();
  EXPECT_EQ(texts.size(), 48U);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 48U);
}

struct AtBorder {
  int refused = 0;  // of 40 points after the first 20
  double best = 0;
};
// Points with x above 0.5 are refused, and those beside it are the best.
AtBorder LearnsABorder(Kind kind) {
  const CompiledSpace space = *CompiledSpace::Of(AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}));
  const auto sampler = *Sampler::Of(space, {kind, 60, 3});
  AtBorder border;
  std::set<std::string> tried;
  for (std::uint64_t trial = 0; trial < 60; ++trial) {
    const Point point = sampler->Ask(trial, 1).front();
    EXPECT_TRUE(tried.insert(PointText(point)).second) << "again";
    const double x = point.at("x").Number();
    if (x > 0.5) {
      sampler->TellImpossible(trial);
      if (trial >= 20) ++border.refused;
    } else {
      sampler->Tell(trial, -x);
      border.best = std::max(border.best, x);
    }
  }
  return border;
}

TEST(LearningSamplers, LearnWhereTheRecipeRefusesPoints) {
  const AtBorder gp = LearnsABorder(Kind::kGp);
  EXPECT_GT(gp.best, 0.499);
  EXPECT_LT(gp.refused, 40) << "it comes back from beyond the border";
  const AtBorder tpe = LearnsABorder(Kind::kTpe);
  EXPECT_LT(tpe.refused, 25) << "of 40";
  EXPECT_GT(tpe.best, 0.48);
}

TEST(LearningSamplers, LeaveDiscreteValuesThatAreRefusedWhateverTheOthers) {
  const Space space = ProductOf(
      {AxisSpace({"n", Axis::Kind::kChoice, {"a", "b", "c", "d"}}), AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1})});
  for (const Kind kind : {Kind::kGp, Kind::kTpe}) {
    const CompiledSpace compiled = *CompiledSpace::Of(space);
    const auto sampler = *Sampler::Of(compiled, {kind, 80, 3});
    int refused = 0;
    for (std::uint64_t trial = 0; trial < 80; ++trial) {
      const Point point = sampler->Ask(trial, 1).front();
      if (*point.at("n").AsString() == "b") {
        sampler->TellImpossible(trial);
        if (trial >= 30) ++refused;
      } else {
        sampler->Tell(trial, point.at("x").Number() + (*point.at("n").AsString() == "a" ? 0 : 1));
      }
    }
    EXPECT_LT(refused, 6) << KindOf({kind}).name;
  }
}

TEST(GpSampler, DoesAsTpeWithMoreAxesThanItLearnsAbout) {
  std::vector<Space> axes;
  for (std::size_t i = 0; i <= kMaxGpAxes; ++i) {
    axes.push_back(AxisSpace({"x" + std::to_string(i), Axis::Kind::kUniform, {}, 0, 1}));
  }
  const auto loss = [](const Point& point) { return point.at("x0").Number(); };
  Learning gp(ProductOf(axes), 30, loss, Kind::kGp);
  Learning tpe(ProductOf(axes), 30, loss);
  gp.RunTo(30);
  tpe.RunTo(30);
  EXPECT_EQ(gp.Texts(), tpe.Texts());
}

TEST(ChooseSampler, SaysWhichAndWhy) {
  const auto chosen = [](const Space& space, std::uint64_t trials, bool objective = true,
                         std::optional<std::uint64_t> at_once = {}) {
    return ChooseSampler(*CompiledSpace::Of(space), {Kind::kAuto, trials, 3}, objective, at_once).why;
  };
  EXPECT_EQ(chosen(kMixed, 100), "auto took gp: 5 axes and 100 trials are few enough for a Gaussian process");
  EXPECT_EQ(chosen(kMixed, 501), "auto took tpe: 501 trials are too many for a Gaussian process");
  EXPECT_EQ(chosen(kMixed, 8), "auto took sobol: 8 trials are too few to learn from");
  EXPECT_EQ(chosen(kMixed, 40, true, 16), "auto took sobol: 40 trials, 16 at once, end too late to learn from");
  EXPECT_EQ(chosen(kMixed, 40, false), "auto took sobol: there is no objective to learn about");
  EXPECT_EQ(chosen(kCounted, 48), "auto took random: there are trials for every point of the space");
  const auto gp = ChooseSampler(*CompiledSpace::Of(kMixed), {Kind::kGp, 600, 3}, true, std::nullopt);
  EXPECT_EQ(gp.choice.kind, Kind::kGp);
  EXPECT_EQ(gp.why, "gp does as tpe after 500 results, more than a Gaussian process learns from");
}

TEST(TpeSampler, NeedsANumberOfTrialsForAContinuousSpace) {
  EXPECT_EQ(PointsOf(kContinuous, {Kind::kTpe}), std::vector<std::string>{"missing number of trials"});
  EXPECT_EQ(PointsOf(kCounted, {Kind::kTpe}).size(), 48U);
}

// The best results by far violate the constraint, which holds for half of the points.
const Space kSquare =
    ProductOf({AxisSpace({"x", Axis::Kind::kUniform, {}, 0, 1}), AxisSpace({"y", Axis::Kind::kUniform, {}, 0, 1})});
TrialResult Constrained(const Point& point) {
  const double x = point.at("x").Number();
  const double y = point.at("y").Number();
  TrialResult result(-x - y);
  result.excess = {x + y - 1, y - 2};
  return result;
}

std::size_t FeasibleAfter(const Learning& sampler, std::size_t first, const Learning::Loss& judge) {
  return static_cast<std::size_t>(std::count_if(sampler.points.begin() + static_cast<std::ptrdiff_t>(first),
                                                sampler.points.end(),
                                                [&](const Point& point) { return IsFeasible(judge(point).excess); }));
}

TEST(ConstrainedSamplers, TryFewPointsThatViolateAConstraint) {
  const auto wells = [](const Point& point) {  // the deeper one is not feasible
    const auto near = [&](double at) {
      const double x = point.at("x").Number() - at;
      const double y = point.at("y").Number() - at;
      return std::exp(-(x * x + y * y) / 0.05);
    };
    TrialResult result(-near(0.25) - 3 * near(0.8));
    result.excess = {point.at("x").Number() + point.at("y").Number() - 1};
    return result;
  };
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    Learning sampler(kSquare, 50, wells, kind);
    sampler.RunTo(50);
    EXPECT_GE(FeasibleAfter(sampler, 20, wells), 20U) << "of 30";
    Learning blind(
        kSquare, 50, [&](const Point& point) { return wells(point).loss; }, kind);
    blind.RunTo(50);
    EXPECT_LE(FeasibleAfter(blind, 20, wells), 10U) << "without the constraint";
  }
}

TEST(ConstrainedSamplers, OfAGaussianProcessReachesTheBound) {
  Learning gp(kSquare, 40, Constrained, Kind::kGp);
  gp.RunTo(40);
  double best = 0;
  for (const Point& point : gp.points) {
    const TrialResult result = Constrained(point);
    if (IsFeasible(result.excess)) best = std::min(best, *result.loss);
  }
  EXPECT_LT(best, -0.98) << "-1 is the best that is feasible";
}

TEST(ConstrainedSamplers, OfAGaussianProcessFindsAFeasiblePointIfThereWasNone) {
  const auto corner = [](const Point& point) {
    TrialResult result(point.at("x").Number());
    result.excess = {1.9 - point.at("x").Number() - point.at("y").Number()};
    return result;
  };
  Learning gp(kSquare, 30, corner, Kind::kGp);
  gp.RunTo(10);
  ASSERT_EQ(FeasibleAfter(gp, 0, corner), 0U) << "it holds for one point of 200";
  gp.RunTo(30);
  EXPECT_GE(FeasibleAfter(gp, 10, corner), 3U);
}

TEST(ConstrainedSamplers, TryTheSamePointsAfterAnyInterruption) {
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    Learning whole(kSquare, 24, Constrained, kind);
    whole.RunTo(24, 2);
    for (const std::size_t cut : {4U, 12U, 18U}) {
      Learning cut_short(kSquare, 24, Constrained, kind);
      cut_short.RunTo(cut, 2);
      cut_short.ResumeAfter(cut);
      cut_short.RunTo(24, 2);
      EXPECT_EQ(cut_short.Texts(), whole.Texts()) << cut;
    }
  }
}

TEST(Fronts, HaveFirstWhatNothingElseDominates) {
  const std::vector<std::pair<double, double>> losses = {{3, 1}, {2, 2}, {3, 3}, {1, 3}, {2, 2}, {1, 4}, {4, 1}};
  std::size_t first = 0;
  const std::vector<std::size_t> order = ByFronts(losses, &first);
  ASSERT_EQ(order.size(), losses.size());
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first)),
            (std::set<std::size_t>{0, 1, 3, 4}))
      << "of equal ones both";
  EXPECT_EQ((std::set<std::size_t>{order[0], order[1]}), (std::set<std::size_t>{0, 3})) << "its ends come first";
  EXPECT_EQ(ByFronts({}, &first), std::vector<std::size_t>());
  EXPECT_EQ(first, 0U);
}

TEST(Fronts, AreThoseOfTheDefinition) {
  std::vector<std::pair<double, double>> losses;
  for (std::uint64_t i = 0; i < 200; ++i) {
    losses.emplace_back(std::floor(20 * Draw(1, i, "a")), std::floor(20 * Draw(1, i, "b")));
  }
  const auto dominates = [&](std::size_t one, std::size_t other) {
    return losses[one].first <= losses[other].first && losses[one].second <= losses[other].second &&
           losses[one] != losses[other];
  };
  std::set<std::size_t> left;
  for (std::size_t i = 0; i < losses.size(); ++i) left.insert(i);
  const std::vector<std::size_t> order = ByFronts(losses);
  for (std::size_t begin = 0; begin < order.size();) {
    std::set<std::size_t> front;
    for (const std::size_t one : left) {
      if (std::none_of(left.begin(), left.end(), [&](std::size_t other) { return dominates(other, one); })) {
        front.insert(one);
      }
    }
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(begin);
    EXPECT_EQ(std::set<std::size_t>(at, at + static_cast<std::ptrdiff_t>(front.size())), front);
    for (const std::size_t one : front) left.erase(one);
    begin += front.size();
  }
}

// The front is y = 0, from (0, 1) to (1, 0): the further y is from it, the worse are both.
TrialResult Opposed(const Point& point) {
  const double x = point.at("x").Number();
  const double y = point.at("y").Number();
  TrialResult result(x * x + y);
  result.second = (1 - x) * (1 - x) + y;
  return result;
}

// The area that the results dominate up to (2, 2); of the front itself 4 - 1/6 = 3.83.
double AreaOf(const Learning& sampler) {
  std::vector<std::pair<double, double>> losses;
  for (const Point& point : sampler.points) losses.emplace_back(*Opposed(point).loss, *Opposed(point).second);
  std::sort(losses.begin(), losses.end());
  double area = 0;
  double below = 2;
  for (const auto& [first, second] : losses) {
    if (first >= 2 || second >= below) continue;
    area += (2 - first) * (below - second);
    below = second;
  }
  return area;
}

TEST(SamplersOfTwoObjectives, FindTheParetoFront) {
  const double random = [] {
    Learning draws(kSquare, 40, Opposed, Kind::kRandom);
    draws.RunTo(40);
    return AreaOf(draws);
  }();
  Learning tpe(kSquare, 40, Opposed, Kind::kTpe);
  tpe.RunTo(40);
  EXPECT_GT(AreaOf(tpe), random + 0.05);
  Learning gp(kSquare, 40, Opposed, Kind::kGp);
  gp.RunTo(40);
  EXPECT_GT(AreaOf(gp), 3.75);
  const auto has = [&](double low, double high) {
    return std::any_of(gp.points.begin(), gp.points.end(), [&](const Point& point) {
      return point.at("y").Number() < 0.05 && point.at("x").Number() >= low && point.at("x").Number() < high;
    });
  };
  for (const double low : {0.0, 0.2, 0.4, 0.6, 0.8})
    EXPECT_TRUE(has(low, low + 0.2)) << "no point of this part: " << low;
}

TEST(SamplersOfTwoObjectives, TryTheSamePointsAfterAnyInterruption) {
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    Learning whole(kSquare, 24, Opposed, kind);
    whole.RunTo(24, 2);
    for (const std::size_t cut : {4U, 12U, 18U}) {
      Learning cut_short(kSquare, 24, Opposed, kind);
      cut_short.RunTo(cut, 2);
      cut_short.ResumeAfter(cut);
      cut_short.RunTo(24, 2);
      EXPECT_EQ(cut_short.Texts(), whole.Texts()) << cut;
    }
  }
}

}  // namespace
}  // namespace muster::testing
