// Tests that the state of a sweep follows from its entries and their order alone.
#include "sweep/record/sweep_progress.h"

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

AttemptBegan Began(TrialNumber trial, std::uint32_t attempt = 0) {
  const Point point = {{"x", static_cast<std::int64_t>(trial)}};
  return {trial, attempt, PointId(point), point, "plan", "run", {"n1"}};
}

AttemptEnded Ended(TrialNumber trial, std::uint32_t attempt, TrialClass trial_class, std::optional<double> loss = {}) {
  AttemptEnded ended;
  ended.trial = trial;
  ended.attempt = attempt;
  ended.trial_class = trial_class;
  ended.loss = loss;
  ended.ms = 10;
  return ended;
}

TEST(SweepProgress, RecordsWhichAttemptsContinueEachOther) {
  const auto resumed = [](std::uint32_t attempt, const std::string& checkpoint) {
    AttemptBegan began = Began(0, attempt);
    began.resumed = {attempt - 1, checkpoint};
    return began;
  };
  const auto again = [](std::uint32_t attempt, TrialClass trial_class) {
    AttemptEnded ended = Ended(0, attempt, trial_class);
    ended.again = true;
    return ended;
  };
  const auto rung = [](std::uint64_t number, bool stop) { return RungReached{0, 0, 1, 0.5, {number, 1, 1, 1, stop}}; };
  const SweepBegan head{"id", "name", 4, 1, 1, "b", "v", "r", false};
  SweepProgress progress = ProgressOf(
      {head, PointsJudged{0, 4, {}}, Began(0), rung(0, false), rung(1, false), again(0, TrialClass::kCrash)});
  const auto open = [&] { return progress.open().at(0); };
  EXPECT_EQ(open().first, 0U);
  EXPECT_EQ(open().attempts, 1U);
  EXPECT_EQ(open().rungs, 2U);
  progress.Take(resumed(1, "/c/step_1"));
  EXPECT_EQ(open().first, 0U);
  EXPECT_EQ(open().resumed.checkpoint, "/c/step_1");
  progress.Take(rung(2, true));
  EXPECT_EQ(open().rungs, 2U) << "one that it was stopped at is decided again if the stop did not come true";
  progress.Take(again(1, TrialClass::kHostLost));
  progress.Take(Began(0, 2));
  EXPECT_EQ(open().first, 2U) << "it began from nothing";
  EXPECT_EQ(open().rungs, 0U);
  EXPECT_EQ(open().resumed, ResumedFrom{});
  progress.Take(again(2, TrialClass::kDiverged));
  EXPECT_EQ(open().first, 3U) << "what diverged is not continued";
  progress.Take(Began(0, 3));
  progress.Take(Ended(0, 3, TrialClass::kCrash));
  progress.Take(TrialsReopened{{{0, 0}}});
  EXPECT_EQ(open().attempts, 4U);
  EXPECT_EQ(open().first, 4U) << "what the user retries begins from nothing";
}

TEST(TrialSet, IsIndependentOfTheOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    TrialSet ranges;
    std::set<TrialNumber> numbers;
    for (int i = 0; i < 200; ++i) {
      const TrialNumber first = random() % 60;
      const TrialNumber last = first + random() % 6;
      if (random() % 3 != 0) {
        ranges.Add(TrialRange{first, last});
        for (TrialNumber n = first; n <= last; ++n) numbers.insert(n);
      } else {
        ranges.Remove(first);
        numbers.erase(first);
      }
      ASSERT_EQ(ranges.size(), numbers.size());
      std::set<TrialNumber> reported;
      TrialNumber before = 0;
      for (const auto& [from, to] : ranges.ranges()) {
        EXPECT_TRUE(reported.empty() || from > before + 1) << "ranges that touch are one";
        for (TrialNumber n = from; n <= to; ++n) reported.insert(n);
        before = to;
      }
      ASSERT_EQ(reported, numbers);
      for (TrialNumber n = 0; n < 70; ++n) ASSERT_EQ(ranges.Has(n), numbers.contains(n)) << n;
    }
  }
}

TEST(SweepProgress, OpensPossibleTrialsAndClosesFinishedOnes) {
  SweepProgress progress = ProgressOf({SweepBegan{"id", "name", 10, 1, 2, "b", "m", "r", false},
                                       PointsJudged{0, 6, {{"no", "a.lua:1", {{1, 2}}}, {"never", "", {{5, 5}}}}}});
  EXPECT_EQ(progress.judged_to(), 6U);
  EXPECT_EQ(progress.impossible().ranges(), (std::vector<TrialRange>{{1, 2}, {5, 5}}));
  std::vector<TrialNumber> open;
  for (const auto& [trial, unused] : progress.open()) open.push_back(trial);
  EXPECT_EQ(open, (std::vector<TrialNumber>{0, 3, 4}));
  progress.Take(Began(3));
  EXPECT_TRUE(progress.open().at(3).running);
  EXPECT_EQ(progress.open().at(3).attempts, 1U);
  EXPECT_EQ(progress.open().at(3).plan, "plan");
  progress.Take(Ended(3, 0, TrialClass::kOk, 0.5));
  EXPECT_FALSE(progress.open().contains(3));
  EXPECT_TRUE(progress.over().Has(3));
  EXPECT_EQ(progress.count(TrialClass::kOk), 1U);
  EXPECT_EQ(progress.begun(), 1U);
  EXPECT_EQ(progress.trial_ms(), 10U);
  ASSERT_TRUE(progress.best());
  EXPECT_EQ(progress.best()->trial, 3U);
  EXPECT_EQ(progress.best()->point.at("x"), Value(3));
  EXPECT_EQ(progress.best()->id, PointId({{"x", 3}}));
}

TEST(SweepProgress, KeepsARetriedTrialOpen) {
  AttemptEnded again = Ended(0, 0, TrialClass::kCrash);
  again.again = true;
  AttemptEnded of_host = Ended(0, 1, TrialClass::kHostLost);
  of_host.again = true;
  of_host.counted = false;
  AttemptEnded interrupted = Ended(0, 2, TrialClass::kPreempted);
  interrupted.interrupted = true;
  SweepProgress progress =
      ProgressOf({PointsJudged{0, 1, {}}, Began(0), again, Began(0, 1), of_host, Began(0, 2), interrupted});
  ASSERT_TRUE(progress.open().contains(0));
  EXPECT_EQ(progress.open().at(0).attempts, 3U);
  EXPECT_EQ(progress.open().at(0).counted, 1U);
  EXPECT_FALSE(progress.open().at(0).running);
  EXPECT_EQ(progress.attempts(), 3U);
  EXPECT_EQ(progress.begun(), 1U);
  EXPECT_EQ(progress.count(TrialClass::kCrash), 0U);
}

TEST(SweepProgress, ReopensOnlyFinishedTrialsAndContinuesTheirAttempts) {
  SweepProgress progress = ProgressOf({PointsJudged{0, 3, {}}, Began(0), Ended(0, 0, TrialClass::kCrash), Began(1),
                                       Ended(1, 0, TrialClass::kOk, 1.0), TrialsReopened{{{0, 0}, {2, 1ULL << 50}}}});
  EXPECT_EQ(progress.count(TrialClass::kCrash), 0U);
  EXPECT_EQ(progress.count(TrialClass::kOk), 1U);
  EXPECT_EQ(progress.over().ranges(), (std::vector<TrialRange>{{1, 1}}));
  EXPECT_EQ(progress.open().at(0).attempts, 1U) << "its next attempt is 1";
  EXPECT_EQ(progress.open().at(0).plan, "");
  EXPECT_EQ(progress.open().at(2).attempts, 0U);
  progress.Take(Began(0, 1));
  progress.Take(Ended(0, 1, TrialClass::kStopped));
  EXPECT_EQ(progress.begun(), 2U);
  EXPECT_EQ(progress.ends().Of(0), (TrialEnds::End{TrialClass::kStopped, 2}));
}

TEST(SweepProgress, HasTheSmallestSuccessfulLossAsItsBest) {
  const SweepProgress progress =
      ProgressOf({PointsJudged{0, 5, {}}, Began(0), Ended(0, 0, TrialClass::kOk, 2.0), Began(1), Began(2),
                  Ended(2, 0, TrialClass::kOk, 1.0), Ended(1, 0, TrialClass::kOk, 1.0), Began(3),
                  Ended(3, 0, TrialClass::kStopped, 0.5), Began(4), Ended(4, 0, TrialClass::kCrash, 0.1)});
  ASSERT_TRUE(progress.best());
  EXPECT_EQ(progress.best()->trial, 1U) << "of equals the smallest number; what failed or was stopped is not asked";
}

TEST(SweepProgress, ToleratesInconsistentEntries) {
  SweepProgress progress = ProgressOf({Ended(3, 0, TrialClass::kOk, 1.0), PointsJudged{~0ULL - 1, 5, {}},
                                       PointsJudged{0, 2, {{"x", "", {{0, ~0ULL}}}}}, TrialsReopened{{{0, ~0ULL}}}});
  EXPECT_EQ(progress.over().size(), 0U);
  EXPECT_FALSE(progress.best());
  EXPECT_EQ(progress.open().size(), 2U) << "a reason of trials that were not judged says nothing";
  progress.Take(Began(0));
  progress.Take(Ended(0, 1, TrialClass::kOk));
  EXPECT_TRUE(progress.open().at(0).running) << "another attempt's end";
}

TEST(SweepProgress, KnowsItsLastHead) {
  SweepProgress progress = ProgressOf({SweepBegan{"id", "name", 10, 1, 2, "b", "m", "old", false},
                                       HostQuarantined{"n1", ""}, SweepEnded{false, "ctrl-c", 130}});
  ASSERT_TRUE(progress.ended());
  EXPECT_EQ(progress.ended()->exit_code, 130);
  progress.Take(SweepBegan{"id", "name", 10, 1, 2, "b", "m", "new", true});
  EXPECT_FALSE(progress.ended());
  EXPECT_EQ(progress.recipe(), "new");
  EXPECT_TRUE(progress.quarantined().contains("n1"));
}

TEST(SweepProgress, HasNoBestTrialThatViolatesAConstraint) {
  const SweepBegan head{"id", "name", 2, 1, 1, "b", "v", "r", false};
  const SweepProgress progress =
      ProgressOf({head, PointsJudged{0, 2, {}}, Began(0), Ended(0, 0, TrialClass::kInfeasible, 0.1), Began(1),
                  Ended(1, 0, TrialClass::kOk, 0.5)});
  ASSERT_TRUE(progress.best());
  EXPECT_EQ(progress.best()->trial, 1U);
  EXPECT_EQ(progress.count(TrialClass::kInfeasible), 1U);
  EXPECT_EQ(progress.failed(), 0U) << "it has a result";
  EXPECT_EQ(ResultOf(OutcomeOf(Ended(0, 0, TrialClass::kInfeasible, 0.1))), 0.1);
  EXPECT_FALSE(IsKeptInstead(OutcomeOf(Ended(0, 1, TrialClass::kInfeasible, 0.1)),
                             OutcomeOf(Ended(0, 0, TrialClass::kOk, 0.5))));
}

TEST(SweepProgress, TakesOnlyRepetitionsThatSucceededAsResultsOfAPoint) {
  SweepProgress progress;
  SweepBegan began;
  began.trials = 9;
  began.seeds = {"seed", 3, true};
  progress.Take(began);
  progress.Take(PointsJudged{0, 9, {}});
  const auto run = [&](TrialNumber trial, std::int64_t x, std::optional<TrialClass> end, double loss) {
    AttemptBegan attempt;
    attempt.trial = trial;
    attempt.point = {{"x", Value(x)}, {"seed", Value(static_cast<std::int64_t>(trial % 3))}};
    attempt.id = PointId(attempt.point);
    progress.Take(attempt);
    if (!end) return;
    AttemptEnded ended;
    ended.trial = trial;
    ended.trial_class = *end;
    ended.loss = loss;
    progress.Take(ended);
  };
  run(3, 2, TrialClass::kOk, 5);
  run(4, 2, TrialClass::kStopped, 0.1);
  run(0, 1, TrialClass::kOk, 7);
  run(1, 1, TrialClass::kOk, 8);
  run(2, 1, TrialClass::kOk, 12);
  run(5, 2, TrialClass::kOk, 6);
  run(6, 3, {}, 0);
  const std::vector<PointGroup> groups = PointGroupsOf(progress);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].point, (Point{{"x", Value(1)}})) << "the only one that is ranked";
  EXPECT_TRUE(groups[0].ranked);
  EXPECT_EQ(groups[0].loss, 8);
  EXPECT_NEAR(groups[0].deviation, std::sqrt(7.0), 1e-12);
  EXPECT_EQ(progress.best()->loss, 8);
  EXPECT_FALSE(groups[1].ranked);
  EXPECT_EQ(groups[1].trials, (std::vector<TrialNumber>{3, 4, 5}));
  EXPECT_EQ(groups[1].loss, 5.5) << "without the one that was stopped";
  EXPECT_FALSE(groups[2].loss);
  EXPECT_EQ(groups[2].trials, std::vector<TrialNumber>{6});
  EXPECT_EQ(progress.GroupOf(4), progress.GroupOf(3));
  EXPECT_GE(progress.GroupOf(8), SweepProgress::kNoGroup);
}

}  // namespace
}  // namespace muster
