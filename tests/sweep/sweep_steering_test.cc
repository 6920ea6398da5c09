// Tests changes of the limits of a running sweep: slots, and further trials, without processes, journal and clock.
#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {
namespace {

SweepDescription WithSlots(std::uint32_t slots) {
  SweepDescription sweep;
  sweep.budget.slots = slots;
  return sweep;
}

SweepDescription Random(std::uint64_t trials) {
  SweepDescription sweep;
  sweep.sampler.kind = SamplerChoice::Kind::kRandom;
  sweep.sampler.trials = trials;
  sweep.sampler.seed = 7;
  return sweep;
}

SweepSteered LastOf(const std::vector<SweepEntry>& entries) { return std::get<SweepSteered>(entries.back()); }

TEST(SweepSteering, StartsMoreTrialsWithMoreSlots) {
  ScheduledSweep scheduled(6, WithSlots(1));
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(), std::vector<TrialNumber>{0});
  ASSERT_TRUE(scheduled.scheduler->Steer({.slots = 3}));
  EXPECT_EQ(LastOf(scheduled.entries), (SweepSteered{{}, {}, 3}));
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{1, 2}));
}

TEST(SweepSteering, EndsNoTrialWithFewerSlots) {
  ScheduledSweep scheduled(6, WithSlots(3));
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{0, 1, 2}));
  ASSERT_TRUE(scheduled.scheduler->Steer({.slots = 1}));
  EXPECT_EQ(scheduled.scheduler->running().size(), 3U);
  scheduled.End(0);
  scheduled.End(1);
  EXPECT_TRUE(scheduled.Start().empty()) << "one still runs";
  scheduled.End(2);
  EXPECT_EQ(scheduled.Start(), std::vector<TrialNumber>{3});
}

TEST(SweepSteering, CountsSlotsInsteadOfCoresFromThenOn) {
  ScheduledSweep scheduled(6, {}, {{"", 0, 2}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{0, 1})) << "one for each core";
  ASSERT_TRUE(scheduled.scheduler->Steer({.slots = 4}));
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{2, 3}));
  for (const TrialNumber trial : {0, 1, 2, 3}) scheduled.End(trial);
  EXPECT_EQ(scheduled.RunAll(), (std::map<TrialNumber, int>{{4, 1}, {5, 1}}));
}

TEST(SweepSteering, AddsTheNextPointsOfTheSampler) {
  ScheduledSweep scheduled(100, Random(3));
  ScheduledSweep longer(100, Random(5));
  scheduled.ResumeFrom();
  scheduled.Judge();
  ASSERT_EQ(scheduled.Start(), (std::vector<TrialNumber>{0, 1}));
  ASSERT_TRUE(scheduled.scheduler->Steer({.add_trials = 2}));
  EXPECT_EQ(LastOf(scheduled.entries), (SweepSteered{5, {}, {}}));
  EXPECT_EQ(scheduled.scheduler->progress().trials(), 5U);
  scheduled.End(0);
  scheduled.End(1);
  EXPECT_EQ(scheduled.RunAll().size(), 3U);
  EXPECT_TRUE(scheduled.scheduler->complete());
  for (TrialNumber trial = 0; trial < 5; ++trial) EXPECT_EQ(scheduled.sampler->At(trial), longer.sampler->At(trial));
}

TEST(SweepSteering, KeepsItsChangesForTheNextHead) {
  SweepDescription description = Random(3);
  description.budget.slots = 1;
  ScheduledSweep killed(100, description);
  killed.ResumeFrom();
  killed.Judge();
  ASSERT_EQ(killed.Start(), std::vector<TrialNumber>{0});
  ASSERT_TRUE(killed.scheduler->Steer({.slots = 2, .add_trials = 4}));
  ASSERT_EQ(killed.Start(), std::vector<TrialNumber>{1});

  ScheduledSweep next(100, description, {{"", 0, 2}}, ProgressOf(killed.entries));
  next.ResumeFrom();
  EXPECT_EQ(next.scheduler->progress().trials(), 7U);
  next.Judge();
  EXPECT_EQ(next.Start(), (std::vector<TrialNumber>{0, 1})) << "two slots";
  next.End(0);
  next.End(1);
  EXPECT_EQ(next.RunAll().size(), 5U);
  EXPECT_TRUE(next.scheduler->complete());

  std::vector<SweepEntry> all = killed.entries;
  all.insert(all.end(), next.entries.begin(), next.entries.end());
  EXPECT_EQ(ProgressOf(all), next.scheduler->progress());
}

TEST(SweepSteering, RaisesTheBudgetOfTrialsToo) {
  SweepDescription description = Random(10);
  description.budget.trials = 2;
  ScheduledSweep scheduled(100, description);
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{0, 1}));
  scheduled.End(0);
  scheduled.End(1);
  ASSERT_TRUE(scheduled.scheduler->over());
  ASSERT_TRUE(scheduled.scheduler->Steer({.add_trials = 3}));
  EXPECT_EQ(LastOf(scheduled.entries), (SweepSteered{13, 5, {}}));
  EXPECT_EQ(scheduled.RunAll().size(), 3U);
}

TEST(SweepSteering, AddsNoTrialThatTheSpaceDoesNotHave) {
  ScheduledSweep whole(6);
  whole.ResumeFrom();
  const auto none = whole.scheduler->Steer({.add_trials = 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "no trial can be added: all 6 points of the space are trials already");

  ScheduledSweep part(6, Random(4));
  part.ResumeFrom();
  const auto few = part.scheduler->Steer({.add_trials = 3});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error(), "at most 2 trials can be added: the sampler has 6 in all");
  EXPECT_EQ(part.entries.size(), 1U) << "nothing is recorded but the head's beginning";
  ASSERT_TRUE(part.scheduler->Steer({.add_trials = 2}));

  SweepDescription limited;
  limited.budget.trials = 2;
  ScheduledSweep grid(6, limited);
  grid.ResumeFrom();
  ASSERT_TRUE(grid.scheduler->Steer({.add_trials = 4})) << "the budget leaves these out";
  EXPECT_EQ(LastOf(grid.entries), (SweepSteered{{}, 6, {}}));
  EXPECT_FALSE(grid.scheduler->Steer({.add_trials = 1}));
}

TEST(SweepSteering, ChangesNothingThatItCannotRecord) {
  ScheduledSweep scheduled(6, WithSlots(1));
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(), std::vector<TrialNumber>{0});
  scheduled.full = true;
  EXPECT_FALSE(scheduled.scheduler->Steer({.slots = 3}));
  EXPECT_EQ(scheduled.scheduler->pool().slots(), 1U);
}

TEST(SweepSteering, IsRefusedOnceTheSweepEnds) {
  ScheduledSweep scheduled(6, WithSlots(1));
  scheduled.ResumeFrom();
  scheduled.scheduler->Stop();
  const auto late = scheduled.scheduler->Steer({.slots = 3});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().find("muster resume"), std::string::npos);
}

TEST(SweepSteering, AddsToOneShardOfASampler) {
  SweepDescription description = Random(7);
  description.sampler.shard = 1;
  description.sampler.shards = 3;
  ScheduledSweep scheduled(20, description);
  ASSERT_EQ(scheduled.sampler->size(), 2U);
  ASSERT_EQ(scheduled.sampler->limit(), 7U);
  scheduled.ResumeFrom();
  ASSERT_TRUE(scheduled.scheduler->Steer({.add_trials = 3}));
  EXPECT_EQ(scheduled.sampler->size(), 5U);
  const auto again = Sampler::Of(*scheduled.space, scheduled.sampler->choice());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->size(), 5U) << "an evaluator that is given the choice has the same trials";
}

}  // namespace
}  // namespace muster
