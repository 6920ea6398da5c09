// Tests chosen points of a sweep: they are the next trials, sampler and journal know them, and an interruption changes
// nothing.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

Point At(std::int64_t x) { return {{"x", Value(x)}}; }

SweepDescription OneAtATime(SamplerChoice sampler = {}) {
  SweepDescription sweep;
  sweep.budget.slots = 1;
  sweep.sampler = sampler;
  return sweep;
}

// The values of x in the order in which trials began.
std::vector<std::int64_t> Begun(const std::vector<SweepEntry>& entries) {
  std::vector<std::int64_t> begun;
  for (const SweepEntry& entry : entries) {
    if (const auto* began = std::get_if<AttemptBegan>(&entry)) begun.push_back(*began->point.at("x").AsInt());
  }
  return begun;
}

// Runs one trial after the other, until so many entries are written, so many trials have ended or the sweep is over.
void RunUntil(ScheduledSweep& sweep, std::size_t entries = 1'000'000, std::size_t ends = 1'000'000) {
  while (!sweep.scheduler->over() && sweep.entries.size() < entries &&
         sweep.scheduler->progress().over().size() < ends) {
    sweep.Judge();
    if (sweep.scheduler->over()) return;  // what was left was left out
    const auto started = sweep.Start();
    ASSERT_EQ(started.size(), 1U) << "it does not go on";
    if (sweep.entries.size() >= entries) return;
    const std::int64_t x = *sweep.trial_points->At(started.front()).at("x").AsInt();
    sweep.End(started.front(), TrialClass::kOk, {}, static_cast<double>(std::abs(x - 63)));
  }
}

TEST(ChosenPoints, OfTheDescriptionAreTheFirstTrials) {
  ScheduledSweep sweep(4, OneAtATime());
  sweep.ResumeFrom();
  sweep.scheduler->Choose({At(77), At(2)});
  RunUntil(sweep);
  EXPECT_EQ(Begun(sweep.entries), (std::vector<std::int64_t>{77, 2, 0, 1, 3}));
  EXPECT_EQ(sweep.scheduler->progress().trials(), 6U);
  EXPECT_TRUE(sweep.scheduler->complete());
  EXPECT_EQ(sweep.scheduler->progress().impossible().size(), 1U) << "x = 2 of the grid was tried already";
}

TEST(ChosenPoints, ComeNextThoughOthersAreReady) {
  ScheduledSweep sweep(40, OneAtATime());
  sweep.ResumeFrom();
  sweep.Judge();
  sweep.End(sweep.Start().front());
  sweep.Judge();
  ASSERT_EQ(sweep.Start().size(), 1U);  // and as many as may be are planned ahead
  ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(77), At(78)}}));
  sweep.End(1);
  EXPECT_EQ(sweep.Start(), std::vector<TrialNumber>()) << "the chosen ones are not judged yet";
  sweep.Judge();
  for (const TrialNumber trial : {40, 41}) {
    ASSERT_EQ(sweep.Start(), std::vector<TrialNumber>{trial});
    sweep.End(trial);
  }
  EXPECT_EQ(sweep.Start(), std::vector<TrialNumber>{2});
}

TEST(ChosenPoints, DoNotWaitForThePlansOfOthers) {
  ScheduledSweep sweep(40, OneAtATime());
  sweep.ResumeFrom();
  sweep.Judge();
  TrialPlanning& planning = sweep.scheduler->planning();
  ASSERT_EQ(planning.NextToPlan(), std::optional<TrialNumber>(0));
  ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(77)}}));
  sweep.Judge();
  ASSERT_EQ(planning.NextToPlan(), std::optional<TrialNumber>(40));
  ASSERT_TRUE(planning.Planned(40, "plan of 40", {{0, 1}}));
  const auto start = sweep.scheduler->NextStart();
  ASSERT_TRUE(start);
  EXPECT_EQ(start->trial, 40U);
}

TEST(ChosenPoints, ThatWaitAreMovedForward) {
  ScheduledSweep sweep(100, OneAtATime());
  sweep.ResumeFrom();
  sweep.Judge();
  ASSERT_EQ(sweep.Start(), std::vector<TrialNumber>{0});
  ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(90), At(20)}}));  // one is planned, the other is not
  sweep.End(0);
  sweep.Judge();
  EXPECT_EQ(sweep.Start(), std::vector<TrialNumber>{90});
  sweep.End(90);
  EXPECT_EQ(sweep.Start(), std::vector<TrialNumber>{20});
  sweep.End(20);
  EXPECT_EQ(sweep.Start(), std::vector<TrialNumber>{1});
  EXPECT_EQ(sweep.scheduler->progress().impossible().size(), 2U) << "each is tried once";
}

TEST(ChosenPoints, LeaveTheOtherPointsOfASequenceAsTheyWere) {
  const SamplerChoice random{SamplerChoice::Kind::kRandom, 10, 7};
  ScheduledSweep plain(100, OneAtATime(random));
  plain.ResumeFrom();
  RunUntil(plain);
  ScheduledSweep steered(100, OneAtATime(random));
  steered.ResumeFrom();
  steered.scheduler->Choose({At(1000)});
  RunUntil(steered, 1'000'000, 4);
  ASSERT_TRUE(steered.scheduler->Steer({.add_trials = 2, .points = {At(1001)}}));
  RunUntil(steered);
  std::vector<std::int64_t> others = Begun(steered.entries);
  EXPECT_EQ(std::erase_if(others, [](std::int64_t x) { return x >= 1000; }), 2U);
  ASSERT_EQ(others.size(), 12U);
  others.resize(10);
  EXPECT_EQ(others, Begun(plain.entries));
}

// A grid of x = 0, 1, …, each repeated with three seeds.
ScheduledSweep Repeated(std::int64_t points) {
  SweepDescription sweep = OneAtATime();
  sweep.sampler.seeds = SeedsChoice{.count = 3};
  return ScheduledSweep(points, sweep, {{"", 0, 2}}, {}, WithSeeds(Values(points), *sweep.sampler.seeds));
}
Point At(std::int64_t x, std::int64_t seed) { return {{"x", Value(x)}, {"seed", Value(seed)}}; }
// The seeds with which the point began.
std::set<std::int64_t> SeedsOf(const ScheduledSweep& sweep, std::int64_t x) {
  std::set<std::int64_t> seeds;
  for (const SweepEntry& entry : sweep.entries) {
    const auto* began = std::get_if<AttemptBegan>(&entry);
    if (began != nullptr && began->point.at("x") == Value(x)) seeds.insert(*began->point.at("seed").AsInt());
  }
  return seeds;
}
const std::set<std::int64_t> kAllSeeds = {0, 1, 2};

TEST(ChosenPoints, WithANamedSeedAreTriedWithThatAloneAndTheSweepEnds) {
  for (const std::int64_t x : {7, 63}) {  // worse, and better than all others
    ScheduledSweep sweep = Repeated(2);
    sweep.ResumeFrom();
    RunUntil(sweep);
    ASSERT_TRUE(sweep.scheduler->complete());
    ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(x, 1)}}));
    EXPECT_EQ(sweep.scheduler->progress().trials(), 7U);
    RunUntil(sweep);
    EXPECT_TRUE(sweep.scheduler->complete());
    EXPECT_EQ(SeedsOf(sweep, x), std::set<std::int64_t>{1});
    EXPECT_EQ(sweep.scheduler->progress().judged_to(), 7U);
  }
}

TEST(ChosenPoints, AreTriedBesidesAllPointsOfARepeatedGrid) {
  ScheduledSweep sweep = Repeated(2);
  sweep.ResumeFrom();
  sweep.scheduler->Choose({At(77, 0), At(77, 1), At(77, 2), At(90, 1), At(1, 2)});
  EXPECT_EQ(sweep.scheduler->progress().trials(), 10U) << "one of them is a trial of the grid";
  RunUntil(sweep);
  EXPECT_TRUE(sweep.scheduler->complete());
  EXPECT_EQ(SeedsOf(sweep, 77), kAllSeeds);
  EXPECT_EQ(SeedsOf(sweep, 90), std::set<std::int64_t>{1});
  for (const SweepEntry& entry : sweep.entries) {
    const auto* judged = std::get_if<PointsJudged>(&entry);
    if (judged == nullptr) continue;
    for (const auto& reason : judged->impossible) EXPECT_TRUE(reason.text.starts_with("racing: ")) << reason.text;
  }
}

class Resumed : public ::testing::TestWithParam<SamplerChoice> {};

TEST_P(Resumed, HasTheSameTrialsAfterAnyInterruption) {
  const auto run = [](ScheduledSweep& sweep, std::size_t entries) {
    if (sweep.scheduler->progress().judged_to() == 0 && sweep.scheduler->progress().steered().points.empty()) {
      sweep.scheduler->Choose({At(60), At(1000)});
    }
    RunUntil(sweep, entries, 8);
    if (sweep.entries.size() >= entries) return;
    if (sweep.scheduler->progress().steered().points.size() == 2) {
      ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(61), At(-5)}}));
    }
    RunUntil(sweep, entries);
  };
  ScheduledSweep whole(100, OneAtATime(GetParam()));
  whole.ResumeFrom();
  run(whole, 1'000'000);
  const std::vector<std::int64_t> expected = Begun(whole.entries);
  EXPECT_EQ(expected.size(), 22U);
  for (std::size_t cut = 3; cut < whole.entries.size(); ++cut) {
    ScheduledSweep killed(100, OneAtATime(GetParam()));
    killed.ResumeFrom();
    run(killed, cut);
    std::vector<SweepEntry> written = killed.entries;
    written.resize(std::min(cut, written.size()));
    ScheduledSweep next(100, OneAtATime(GetParam()), {{"", 0, 2}}, ProgressOf(written), {}, {}, written);
    next.ResumeFrom();
    run(next, 1'000'000);
    written.insert(written.end(), next.entries.begin(), next.entries.end());
    std::map<TrialNumber, std::int64_t> tried;
    std::vector<std::int64_t> points;
    for (const SweepEntry& entry : written) {
      if (const auto* began = std::get_if<AttemptBegan>(&entry)) {
        if (tried.emplace(began->trial, *began->point.at("x").AsInt()).second) points.push_back(tried.at(began->trial));
      }
    }
    EXPECT_EQ(points, expected) << cut;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, Resumed,
                         ::testing::Values(SamplerChoice{SamplerChoice::Kind::kRandom, 18, 7},
                                           SamplerChoice{SamplerChoice::Kind::kTpe, 18, 7}));

TEST(ChosenPoints, AreLearntFrom) {
  const SamplerChoice tpe{SamplerChoice::Kind::kTpe, 40, 3};
  ScheduledSweep sweep(1000, OneAtATime(tpe));
  sweep.ResumeFrom();
  sweep.scheduler->Choose({At(63), At(62), At(64), At(60), At(66)});
  RunUntil(sweep);
  const std::vector<std::int64_t> begun = Begun(sweep.entries);
  ASSERT_EQ(begun.size(), 45U);
  const auto near = [](std::int64_t x) { return x < 130; };
  EXPECT_GT(std::count_if(begun.begin() + 15, begun.end(), near), 15) << "of 30; one in eight by chance";
}

TEST(ChosenPoints, FillACountableSpaceOfASamplerThatLearns) {
  ScheduledSweep sweep(6, OneAtATime({SamplerChoice::Kind::kTpe, {}, 1}));
  sweep.ResumeFrom();
  sweep.scheduler->Choose({At(3)});
  RunUntil(sweep);
  std::vector<std::int64_t> begun = Begun(sweep.entries);
  EXPECT_EQ(begun.front(), 3);
  std::sort(begun.begin(), begun.end());
  EXPECT_EQ(begun, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(sweep.scheduler->complete());
}

TEST(ChosenPoints, RaiseALimitOfTrialsIfTheyAreAddedLater) {
  SweepDescription limited = OneAtATime();
  limited.budget.trials = 2;
  ScheduledSweep sweep(6, limited);
  sweep.ResumeFrom();
  sweep.scheduler->Choose({At(70)});
  RunUntil(sweep);
  EXPECT_EQ(Begun(sweep.entries), (std::vector<std::int64_t>{70, 0})) << "among the two";
  ASSERT_TRUE(sweep.scheduler->Steer({.points = {At(71)}}));
  RunUntil(sweep);
  EXPECT_EQ(Begun(sweep.entries), (std::vector<std::int64_t>{70, 0, 71})) << "besides the two";
}

TEST(ChosenPoints, AreRefusedBeyondABound) {
  ScheduledSweep sweep(6);
  sweep.ResumeFrom();
  const auto many = sweep.scheduler->Steer({.points = std::vector<Point>(TrialPoints::kMaxChosen + 1, At(1))});
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().find("at most 10000 can"), std::string::npos) << many.error();
  EXPECT_EQ(sweep.entries.size(), 1U) << "nothing was recorded";
}

}  // namespace
}  // namespace muster
