// Tests that points are repeated with their seeds, and that a race leaves out those that are clearly worse.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "space/sampler.h"

namespace muster {
namespace {

using Kind = SamplerChoice::Kind;

Space Axis1(std::int64_t points) {
  Space space{.kind = Space::Kind::kAxis, .axis = {.name = "x"}};
  for (std::int64_t x = 0; x < points; ++x) space.axis.values.emplace_back(x);
  return space;
}

// A sweep of one trial at a time, whose loss is x and a little noise by the seed.
struct Repeated {
  explicit Repeated(SamplerChoice choice, Space of, bool race = true, std::uint64_t count = 3) {
    choice.seeds = SeedsChoice{.count = count, .race = race};
    space.emplace(*CompiledSpace::Of(WithSeeds(std::move(of), *choice.seeds)));
    sampler = *Sampler::Of(*space, choice);
  }
  static double Loss(const Point& point) {
    return point.at("x").Number() + 0.01 * static_cast<double>((*point.at("seed").AsInt() * 7 + 1) % 3);
  }
  // As the scheduler does: points that are left out become trials that are impossible.
  void LeaveOut() {
    for (const Sampler::LeftOut& left : sampler->left_out()) {
      sampler->Recall(points.size(), {left.point});
      sampler->TellImpossible(points.size());
      points.push_back(left.point);
      why.push_back(left.why);
    }
  }
  void RunTo(std::size_t trials) {
    while (points.size() < trials) {
      LeaveOut();
      if (points.size() >= trials) return;
      const auto asked = sampler->Ask(points.size(), 1);
      ASSERT_EQ(asked.size(), 1U) << points.size();
      points.push_back(asked.front());
      tried.push_back(PointText(asked.front()));
      sampler->Tell(points.size() - 1, Loss(asked.front()));
    }
  }

  std::optional<CompiledSpace> space;
  std::unique_ptr<Sampler> sampler;
  std::vector<Point> points;
  std::vector<std::string> tried;
  std::vector<std::string> why;
};

TEST(RepeatedSampler, TriesEachPointWithEachSeedWithoutARace) {
  Repeated grid({Kind::kGrid}, Axis1(4), false);
  ASSERT_EQ(grid.sampler->size(), 12U);
  grid.RunTo(12);
  EXPECT_EQ(std::set<std::string>(grid.tried.begin(), grid.tried.end()).size(), 12U);
  EXPECT_TRUE(grid.why.empty());
  Repeated at_once({Kind::kGrid}, Axis1(4), false);
  EXPECT_EQ(at_once.sampler->Ask(0, 12).size(), 12U) << "none waits for a result";
}

// What it reported until then would make its point look better or worse than it is.
TEST(RepeatedSampler, DoesNotRankAPointWithARepetitionThatWasStoppedEarly) {
  for (const bool paused : {false, true}) {
    Repeated grid({Kind::kGrid}, Axis1(2));
    const auto first = grid.sampler->Ask(0, 1);
    ASSERT_EQ(first.size(), 1U);
    TrialResult result(-5.0);  // better than all
    result.paused = paused;
    grid.sampler->TellStopped(0, result);
    const auto left = grid.sampler->left_out();
    EXPECT_EQ(left.size(), paused ? 0U : 2U) << "its further seeds";
    if (!left.empty()) {
      EXPECT_EQ(left.front().why, "one of its seeds was stopped early");
    }
    // It continues, and succeeds.
    grid.sampler->Tell(0, TrialResult(0.5));
    EXPECT_EQ(grid.sampler->left_out().size(), paused ? 0U : 2U) << "a decision stays";
  }
}

TEST(RepeatedSampler, GivesAPointWithAPausedRepetitionItsNextSeedAfterAllOthers) {
  Repeated grid({Kind::kGrid}, Axis1(2));
  ASSERT_EQ(grid.sampler->Ask(0, 1).size(), 1U);
  TrialResult paused(0.5);
  paused.paused = true;
  grid.sampler->TellStopped(0, paused);
  for (std::uint64_t trial = 1; trial < 4; ++trial) {
    const auto next = grid.sampler->Ask(trial, 1);
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(*next.front().at("x").AsInt(), 1) << trial;
    grid.sampler->Tell(trial, 1.0);
  }
  const auto last = grid.sampler->Ask(4, 2);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(PointText(last.front()), "seed=1, x=0");
}

TEST(RepeatedSampler, TriesOnlyTheNamedSeedOfAChosenPoint) {
  Repeated grid({Kind::kGrid}, Axis1(2));
  grid.sampler->Widen(1);
  grid.sampler->Extend(7);
  grid.sampler->RecallChosen(0, {{{"x", Value(7)}, {"seed", Value(1)}}});
  grid.points.push_back({{"x", Value(7)}, {"seed", Value(1)}});
  grid.sampler->Tell(0, 7.0);
  grid.RunTo(7);
  std::map<std::string, int> seeds;
  for (const std::string& point : grid.tried) ++seeds[point.substr(point.find("x="))];
  EXPECT_EQ(seeds["x=7"], 0) << "besides the one that was named";
  EXPECT_EQ(seeds["x=0"], 3);
  for (const std::string& why : grid.why) EXPECT_EQ(why.find("racing: after 1 of 3 seeds"), 0U) << why;
}

TEST(RepeatedSampler, CompletesAPointOfTheGridOfWhichAUserChoseOneSeed) {
  Repeated grid({Kind::kGrid}, Axis1(2), false);
  grid.sampler->RecallChosen(0, {{{"x", Value(1)}, {"seed", Value(2)}}});
  grid.points.push_back({{"x", Value(1)}, {"seed", Value(2)}});
  grid.sampler->Tell(0, 1.0);
  grid.RunTo(6);
  EXPECT_EQ(std::set<std::string>(grid.tried.begin(), grid.tried.end()),
            (std::set<std::string>{"seed=0, x=0", "seed=1, x=0", "seed=2, x=0", "seed=0, x=1", "seed=1, x=1"}));
}

TEST(RepeatedSampler, LearnsAsManyPointsBesidesChosenSeeds) {
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    Repeated sampler({kind, 6, 3}, Axis1(30), false);
    sampler.sampler->Widen(1);
    sampler.sampler->Extend(20);
    for (const std::int64_t x : {77, 4}) {
      const Point point = {{"x", Value(x)}, {"seed", Value(1)}};
      sampler.sampler->RecallChosen(sampler.points.size(), {point});
      sampler.sampler->Tell(sampler.points.size(), Repeated::Loss(point));
      sampler.points.push_back(point);
    }
    sampler.RunTo(20);
    const std::set<std::string> tried(sampler.tried.begin(), sampler.tried.end());
    EXPECT_EQ(tried.size(), 18U) << "each of six points with each of its seeds";
    EXPECT_FALSE(tried.contains("seed=0, x=4") || tried.contains("seed=0, x=77"));
  }
}

TEST(RepeatedSampler, GivesPointsThatAreClearlyWorseNoFurtherSeed) {
  Repeated grid({Kind::kGrid}, Axis1(4));
  grid.RunTo(12);
  std::map<std::string, int> seeds;
  for (const std::string& point : grid.tried) ++seeds[point.substr(point.find("x="))];
  EXPECT_EQ(seeds["x=0"], 3);
  EXPECT_EQ(seeds["x=3"], 1);
  ASSERT_FALSE(grid.why.empty());
  EXPECT_NE(grid.why.front().find("racing: after 1 of 3 seeds it is worse than x=0 (t-test with pooled variance, 5 %)"),
            std::string::npos)
      << grid.why.front();
}

TEST(RepeatedSampler, WaitsForTheResultOfAPointInARaceAndTriesOthersMeanwhile) {
  Repeated grid({Kind::kGrid}, Axis1(2));
  EXPECT_EQ(grid.sampler->Ask(0, 6).size(), 2U) << "the first seed of both";
  EXPECT_TRUE(grid.sampler->Ask(2, 4).empty());
  grid.sampler->Tell(1, 0.5);
  const auto next = grid.sampler->Ask(2, 4);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(PointText(next.front()), "seed=1, x=1");
}

TEST(RepeatedSampler, TriesTheSamePointsAfterAnyInterruption) {
  for (const Kind kind : {Kind::kGrid, Kind::kTpe, Kind::kGp}) {
    const SamplerChoice choice{kind, kind == Kind::kGrid ? std::nullopt : std::optional<std::uint64_t>(14), 3};
    Repeated whole(choice, Axis1(30));
    whole.RunTo(40);
    for (const std::size_t cut : {1U, 9U, 21U, 33U}) {
      Repeated resumed(choice, Axis1(30));
      resumed.points.assign(whole.points.begin(), whole.points.begin() + static_cast<std::ptrdiff_t>(cut));
      Repeated replayed(choice, Axis1(30));
      replayed.RunTo(cut);
      for (std::size_t i = 0; i < cut; ++i) {
        const bool was_tried =
            std::find(replayed.tried.begin(), replayed.tried.end(), PointText(whole.points[i])) != replayed.tried.end();
        resumed.sampler->Recall(i, {whole.points[i]});
        if (was_tried) resumed.sampler->Tell(i, Repeated::Loss(whole.points[i]));
        if (!was_tried) resumed.sampler->TellImpossible(i);
      }
      resumed.RunTo(40);
      EXPECT_EQ(resumed.points, whole.points) << cut;
    }
  }
}

TEST(RepeatedSampler, LeavesOutTheSeedsOfAPointThatFailsOrIsImpossible) {
  Repeated grid({Kind::kGrid}, Axis1(2));
  grid.sampler->Ask(0, 2);
  grid.sampler->TellImpossible(0);
  grid.sampler->Tell(1, std::nullopt);
  const auto left = grid.sampler->left_out();
  ASSERT_EQ(left.size(), 4U);
  EXPECT_EQ(left[0].why, "its first seed is impossible");
  EXPECT_EQ(left[2].why, "one of its seeds has no result");
}

}  // namespace
}  // namespace muster
