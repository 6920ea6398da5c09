#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/stop_rules.h"

namespace muster::testing {
namespace {

TEST(Asha, HasRungsAtPowersOfEta) {
  EXPECT_EQ(Asha(1000, 64000, 4).rungs(), (std::vector<double>{1000, 4000, 16000, 64000}));
  EXPECT_EQ(Asha(1, 80, 3).rungs(), (std::vector<double>{1, 3, 9, 27}));
  EXPECT_EQ(Asha(1, 81, 3).rungs(), (std::vector<double>{1, 3, 9, 27, 81}));
  EXPECT_EQ(Asha(5, 5, 2).rungs(), (std::vector<double>{5}));
}

// Computed by hand with eta 2: of n results the best max(1, floor(n / 2)) continue.
TEST(Asha, AgreesWithDecisionsComputedByHand) {
  Asha asha(1, 4, 2);
  struct Line {
    std::size_t rung;
    double loss;
    StopDecision decision;
  };
  const Line journal[] = {
      {0, 0.9, {0, 1, 1, 1, false}},                                 // the first result
      {0, 0.8, {0, 2, 1, 1, false}},                                 // better
      {0, 0.85, {0, 3, 2, 1, true}},                                 // second of three, one continues
      {0, 0.7, {0, 4, 1, 2, false}},  {0, 0.8, {0, 5, 3, 2, true}},  // ties with an earlier result, which ranks first
      {1, 0.6, {1, 1, 1, 1, false}},                                 // another rung with its own results
      {0, 0.75, {0, 6, 2, 3, false}}, {1, 0.65, {1, 2, 2, 1, true}},  {0, 0.8, {0, 7, 5, 3, true}},
      {2, 9.0, {2, 1, 1, 1, false}},  {2, 10.0, {2, 2, 2, 2, false}},  // the last rung is the end
  };
  std::uint64_t trial = 0;
  for (const Line& line : journal) {
    EXPECT_EQ(asha.Report(line.rung, trial++, line.loss), line.decision) << line.loss << " at rung " << line.rung;
  }
}

TEST(Asha, StopsNothingUntilThereAreEnoughResults) {
  Asha asha(1, 4, 2, 3);
  EXPECT_FALSE(asha.Report(0, 0, 1).stop);
  EXPECT_FALSE(asha.Report(0, 1, 2).stop);
  EXPECT_FALSE(asha.Report(0, 2, 3).stop);
  EXPECT_TRUE(asha.Report(0, 3, 4).stop);
}

TEST(Asha, DoesNotCompareATrialWithItself) {
  Asha asha(1, 8, 2);
  EXPECT_FALSE(asha.Report(0, 0, 0.1).stop);
  EXPECT_TRUE(asha.Report(0, 1, 0.9).stop);
  // Interrupted and retried: it is still the best of two.
  const StopDecision again = asha.Report(0, 0, 0.1);
  EXPECT_EQ(again.results, 2u);
  EXPECT_EQ(again.rank, 1u);
  EXPECT_FALSE(again.stop);
}

// Each decision and promotion by hand, with eta 2: the best floor(n / 2) of n results continue.
TEST(Asha, PausesTrialsAndPromotesTheBest) {
  Asha asha(1, 4, 2, 0, Asha::Form::kPauses);
  const auto paused = [&](std::size_t rung, std::uint64_t trial, double loss) {
    const StopDecision decision = asha.Report(rung, trial, loss);
    EXPECT_EQ(decision.paused, decision.stop);
    if (decision.paused) asha.Paused(rung, trial);
    return decision.paused;
  };
  EXPECT_TRUE(paused(0, 0, 0.5)) << "of one result none continues";
  EXPECT_FALSE(asha.Next());
  EXPECT_TRUE(paused(0, 1, 0.9)) << "rank 2";
  EXPECT_EQ(asha.Next(), (TrialPromoted{0, 0, 2, 1, 1}));
  asha.Promoted(0, 0);
  EXPECT_FALSE(asha.Next()) << "the best continues already";
  EXPECT_TRUE(paused(1, 0, 0.4));
  EXPECT_FALSE(paused(0, 2, 0.1)) << "the best of three goes on without a pause";
  EXPECT_FALSE(asha.Next()) << "one of three continues";
  EXPECT_TRUE(paused(0, 3, 0.8));
  EXPECT_FALSE(asha.Next()) << "the best two of four are those that continued";
  EXPECT_TRUE(paused(0, 4, 0.6));
  EXPECT_TRUE(paused(0, 5, 0.7));
  EXPECT_EQ(asha.Next(), (TrialPromoted{4, 0, 6, 3, 3}));
  EXPECT_FALSE(paused(1, 2, 0.3));
  EXPECT_TRUE(paused(1, 6, 0.35)) << "rank 2 of 3";
  EXPECT_TRUE(paused(1, 7, 0.45));
  EXPECT_EQ(asha.Next(), (TrialPromoted{6, 1, 4, 2, 2})) << "the highest rung first";
  asha.Promoted(1, 6);
  EXPECT_EQ(asha.Next(), (TrialPromoted{4, 0, 6, 3, 3}));
  asha.Dropped(0, 4);
  EXPECT_FALSE(asha.Next()) << "trial 5 has rank 4";
  EXPECT_FALSE(paused(2, 6, 7)) << "the last rung is the end";
  EXPECT_FALSE(paused(0, 0, 0.95)) << "repeated from the beginning, it continues as before";
}

using Brackets = std::vector<std::vector<std::pair<std::uint64_t, double>>>;

Brackets BracketsFor(double min, double max, double eta) {
  Brackets brackets;
  for (const HyperbandBracket& bracket : HyperbandBrackets(min, max, eta)) {
    auto& rungs = brackets.emplace_back();
    for (std::size_t i = 0; i < bracket.resources.size(); ++i) {
      rungs.emplace_back(bracket.trials[i], bracket.resources[i]);
    }
  }
  return brackets;
}

TEST(Hyperband, HasTheBracketsOfAlgorithmOne) {
  EXPECT_EQ(BracketsFor(1, 81, 3), (Brackets{{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
                                             {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
                                             {{15, 9}, {5, 27}, {1, 81}},
                                             {{8, 27}, {2, 81}},
                                             {{5, 81}}}));
}

// log(243) / log(3) and log10(1000) are a little less than 5 and 3 in doubles.
TEST(Hyperband, HasNoBracketTooFewAtPowers) {
  EXPECT_EQ(BracketsFor(1, 243, 3), (Brackets{{{243, 1}, {81, 3}, {27, 9}, {9, 27}, {3, 81}, {1, 243}},
                                              {{98, 3}, {32, 9}, {10, 27}, {3, 81}, {1, 243}},
                                              {{41, 9}, {13, 27}, {4, 81}, {1, 243}},
                                              {{18, 27}, {6, 81}, {2, 243}},
                                              {{9, 81}, {3, 243}},
                                              {{6, 243}}}));
  EXPECT_EQ(BracketsFor(1, 1000, 10), (Brackets{{{1000, 1}, {100, 10}, {10, 100}, {1, 1000}},
                                                {{134, 10}, {13, 100}, {1, 1000}},
                                                {{20, 100}, {2, 1000}},
                                                {{4, 1000}}}));
  EXPECT_EQ(HyperbandBrackets(0.1, 1, 10).size(), 2U);
  EXPECT_EQ(HyperbandBrackets(1, 80, 3).size(), 4U);
  EXPECT_EQ(HyperbandBrackets(5, 5, 2).size(), 1U);
  for (int power = 1; power < 20; ++power) {
    EXPECT_EQ(HyperbandBrackets(1, std::pow(3, power), 3).size(), power + 1U) << power;
  }
}

TEST(Hyperband, GivesEachBracketItsShareOfTrials) {
  const auto brackets = HyperbandBrackets(1, 81, 3);
  for (const std::uint64_t seed : {0, 7}) {
    for (const std::uint64_t round : {0, 5}) {
      std::vector<std::uint64_t> counts(brackets.size());
      for (std::uint64_t i = 0; i < 143; ++i) ++counts[BracketOf(brackets, seed, 143 * round + i)];
      EXPECT_EQ(counts, (std::vector<std::uint64_t>{81, 34, 15, 8, 5})) << seed << " " << round;
    }
  }
  const auto of = [&](std::uint64_t seed, std::uint64_t first) {
    std::vector<std::size_t> numbers;
    for (std::uint64_t i = 0; i < 143; ++i) numbers.push_back(BracketOf(brackets, seed, first + i));
    return numbers;
  };
  EXPECT_NE(of(0, 0), of(7, 0));
  EXPECT_NE(of(0, 0), of(0, 143));
}

// Reports of trials at their steps, to rules of a sweep with repetitions.
struct Repeating {
  static SweepDescription With(EarlyStopChoice choice, bool median = false) {
    SweepDescription sweep;
    sweep.objective = {.metric = "loss"};
    sweep.early_stop = std::move(choice);
    sweep.sampler.seeds = SeedsChoice{.count = 3, .median = median};
    return sweep;
  }
  explicit Repeating(EarlyStopChoice choice, bool median = false) : rules(With(std::move(choice), median), {}) {}
  StopRules::Outcome At(TrialNumber trial, std::uint64_t group, double loss, int step = 1) {
    if (!progress.contains(trial)) rules.Repeats(trial, group);
    return rules.Take(trial, 0, progress[trial], {{"step", Value(step)}, {"loss", Value(loss)}});
  }
  RungReached AtRung(TrialNumber trial, std::uint64_t group, double loss, int step = 1) {
    return std::get<RungReached>(At(trial, group, loss, step).entries.at(0));
  }
  StopRules rules;
  std::map<TrialNumber, TrialProgress> progress;
};

TEST(StopRules, ComparesPointsByTheMeanOfTheirRepetitions) {
  Repeating asha({.kind = EarlyStopChoice::Kind::kAsha, .min = 1, .max = 16, .eta = 2});
  EXPECT_EQ(asha.AtRung(0, 0, 4).decision.results, 1U);
  EXPECT_FALSE(asha.AtRung(1, 0, 2).decision.stop) << "the same point: still one result, 3";
  const RungReached other = asha.AtRung(2, 1, 3.5);
  EXPECT_EQ(other.decision.results, 2U);
  EXPECT_EQ(other.decision.rank, 2U);
  EXPECT_TRUE(other.decision.stop);
  EXPECT_EQ(other.loss, 3.5) << "its own";
  EXPECT_FALSE(asha.AtRung(3, 2, 2.5).decision.stop);
  EXPECT_EQ(asha.At(4, 1, 9).why, "rung 1 of 5: rank 3 of 3 points, the best 1 continue");
}

TEST(StopRules, ComparesPointsByTheirMedianIfTheyAreRankedByIt) {
  Repeating asha({.kind = EarlyStopChoice::Kind::kAsha, .min = 1, .max = 16, .eta = 2}, true);
  for (const auto& [trial, loss] : {std::pair(0U, 1.0), std::pair(1U, 2.0), std::pair(2U, 99.0)}) {
    EXPECT_FALSE(asha.AtRung(trial, 0, loss).decision.stop);
  }
  EXPECT_TRUE(asha.AtRung(3, 1, 3).decision.stop) << "the other is 2, not 34";
}

TEST(StopRules, ComparesAllRepetitionsOfAPointInOneBracket) {
  const EarlyStopChoice hyperband{.kind = EarlyStopChoice::Kind::kHyperband, .min = 1, .max = 9, .eta = 3};
  const auto brackets = HyperbandBrackets(1, 9, 3);
  Repeating rules(hyperband);
  std::vector<std::size_t> compared(3);
  for (std::uint64_t group = 0; group < 17; ++group) {
    for (TrialNumber trial = 3 * group; trial < 3 * group + 3; ++trial) {
      const auto outcome = rules.At(trial, group, 100.0 - static_cast<double>(group), 9);
      ASSERT_FALSE(outcome.entries.empty());
      EXPECT_EQ(std::get<RungReached>(outcome.entries.front()).decision.rung, BracketOf(brackets, 0, group));
    }
    ++compared[BracketOf(brackets, 0, group)];
  }
  EXPECT_EQ(compared, (std::vector<std::size_t>{9, 5, 3}));
}

TEST(StopRules, ContinuesAllPausedRepetitionsOfAPointThatIsPromoted) {
  Repeating asha({.kind = EarlyStopChoice::Kind::kAsha, .min = 1, .max = 4, .eta = 2, .promote = true});
  const auto pause = [&](TrialNumber trial, std::uint64_t group, double loss) {
    EXPECT_TRUE(asha.AtRung(trial, group, loss).decision.paused) << trial;
    asha.rules.Paused(trial, 0);
  };
  pause(0, 0, 3);
  pause(1, 0, 1);
  EXPECT_FALSE(asha.rules.NextPromotion()) << "one point alone is not among the better half";
  pause(2, 1, 4);
  EXPECT_EQ(asha.rules.NextPromotion(), (TrialPromoted{0, 0, 2, 1, 1}));
  asha.rules.Promoted({0, 0, 2, 1, 1});
  EXPECT_FALSE(asha.AtRung(3, 0, 9).decision.stop) << "its point, now 4.3 and the second, goes on";
  EXPECT_EQ(asha.rules.NextPromotion(), (TrialPromoted{1, 0, 2, 2, 1})) << "with the rank that it has now";
  asha.rules.Promoted({1, 0, 2, 2, 1});
  EXPECT_EQ(asha.rules.NextPromotion(), (TrialPromoted{2, 0, 2, 1, 1})) << "now the best";
  asha.rules.Dropped({2, 0, 2, 1, 1});
  EXPECT_FALSE(asha.rules.NextPromotion());
}

TEST(StopRules, RanksAPausedPointAnewAfterEachRepetition) {
  Repeating asha({.kind = EarlyStopChoice::Kind::kAsha, .min = 1, .max = 4, .eta = 2, .promote = true});
  for (const auto& [trial, loss] : {std::pair(1U, 4.0), std::pair(0U, 5.0)}) {
    EXPECT_TRUE(asha.AtRung(trial, trial, loss).decision.paused);
    asha.rules.Paused(trial, 0);
  }
  EXPECT_EQ(asha.rules.NextPromotion()->trial, 1U);
  EXPECT_FALSE(asha.AtRung(2, 0, 1).decision.stop) << "3 is better than 4";
  EXPECT_EQ(asha.rules.NextPromotion()->trial, 0U) << "its other repetition";
}

// Rungs are numbered by their resources, and trials of different brackets are not compared.
TEST(StopRules, ComparesTrialsOfAHyperbandBracketFromItsFirstRungOn) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss"};
  sweep.early_stop = EarlyStopChoice{.kind = EarlyStopChoice::Kind::kHyperband, .min = 1, .max = 9, .eta = 3};
  StopRules rules(sweep, {});
  EXPECT_EQ(rules.rungs(), (std::vector<double>{1, 3, 9}));
  const auto brackets = HyperbandBrackets(1, 9, 3);
  std::vector<std::size_t> compared(3);  // by bracket: the first rung of its trials
  for (TrialNumber trial = 0; trial < 17; ++trial) {
    TrialProgress progress;
    std::vector<std::size_t> rungs;
    for (int step = 1; step <= 9; ++step) {
      const double loss = 100.0 - static_cast<double>(trial);  // each is better than all before
      const auto outcome = rules.Take(trial, 0, progress, {{"step", Value(step)}, {"loss", Value(loss)}});
      EXPECT_FALSE(outcome.stop) << outcome.why;
      for (const SweepEntry& entry : outcome.entries) rungs.push_back(std::get<RungReached>(entry).decision.rung);
    }
    const std::size_t bracket = BracketOf(brackets, 0, trial);
    ASSERT_EQ(rungs.size(), 3 - bracket);
    EXPECT_EQ(rungs.front(), bracket);
    ++compared[bracket];
  }
  EXPECT_EQ(compared, (std::vector<std::size_t>{9, 5, 3}));
}

TEST(MedianRule, StopsTrialsWorseThanTheMedianOfRunningMeans) {
  MedianRule rule(2, 3);
  EXPECT_FALSE(rule.At(5, 100).stop) << "nothing has finished";
  rule.Finished(1, {{1, 4}, {2, 2}, {3, 0}});  // means 4, 3, 2
  rule.Finished(2, {{1, 6}, {2, 6}, {3, 6}});
  EXPECT_FALSE(rule.At(2, 100).median) << "two are too few";
  rule.Finished(3, {{1, 5}, {3, 3}});  // means 5, 4
  EXPECT_EQ(rule.At(2, 100).median, 5) << "of 3, 6 and 5";
  EXPECT_TRUE(rule.At(2, 5.1).stop);
  EXPECT_FALSE(rule.At(2, 5).stop) << "as good is good enough";
  EXPECT_EQ(rule.At(3, 1).median, 4) << "of 2, 6 and 4";
  EXPECT_FALSE(rule.At(1, 100).stop) << "before the warm-up";
  EXPECT_EQ(rule.At(0.5, 100).finished, 0U);
  rule.Finished(4, {{1, 1}});
  EXPECT_EQ(rule.At(3, 1).median, 3) << "an even number: between 2 and 4";
}

TEST(MedianRule, ComparesPointsByTheirRepetitions) {
  MedianRule rule(0, 2);
  rule.Finished(0, {{1, 1}}, 0);
  rule.Finished(1, {{1, 3}}, 0);
  rule.Finished(2, {{1, 4}, {2, 0}}, 1);
  EXPECT_FALSE(rule.At(1, 100, 1).median) << "with its own point there are two, and it is not compared with that";
  EXPECT_EQ(rule.At(1, 100, 2).finished, 2U);
  EXPECT_EQ(rule.At(1, 100, 2).median, 3) << "between 2 and 4";
  rule.Finished(3, {{1, 8}}, 2);
  const MedianRule::Decision stopped = rule.At(2, 20, 1);
  EXPECT_EQ(stopped.best, 10) << "with 0, the best of the other repetition until then";
  EXPECT_EQ(stopped.median, 5) << "of 2 and 8";
  EXPECT_TRUE(stopped.stop);
  EXPECT_FALSE(rule.At(2, 9, 1).stop) << "4.5";
}

}  // namespace
}  // namespace muster::testing
