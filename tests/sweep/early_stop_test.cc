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

}  // namespace
}  // namespace muster::testing
