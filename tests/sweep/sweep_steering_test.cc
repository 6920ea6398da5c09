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
  Course course(6, WithSlots(1));
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(), std::vector<TrialNumber>{0});
  ASSERT_TRUE(course.course->Steer({.slots = 3}));
  EXPECT_EQ(LastOf(course.entries), (SweepSteered{{}, {}, 3}));
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{1, 2}));
}

TEST(SweepSteering, EndsNoTrialWithFewerSlots) {
  Course course(6, WithSlots(3));
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{0, 1, 2}));
  ASSERT_TRUE(course.course->Steer({.slots = 1}));
  EXPECT_EQ(course.course->running().size(), 3U);
  course.End(0);
  course.End(1);
  EXPECT_TRUE(course.Start().empty()) << "one still runs";
  course.End(2);
  EXPECT_EQ(course.Start(), std::vector<TrialNumber>{3});
}

TEST(SweepSteering, CountsSlotsInsteadOfCoresFromThenOn) {
  Course course(6, {}, {{"", 0, 2}});
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{0, 1})) << "one for each core";
  ASSERT_TRUE(course.course->Steer({.slots = 4}));
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{2, 3}));
  for (const TrialNumber trial : {0, 1, 2, 3}) course.End(trial);
  EXPECT_EQ(course.RunAll(), (std::map<TrialNumber, int>{{4, 1}, {5, 1}}));
}

TEST(SweepSteering, AddsTheNextPointsOfTheSampler) {
  Course course(100, Random(3));
  Course longer(100, Random(5));
  course.ResumeFrom();
  course.Judge();
  ASSERT_EQ(course.Start(), (std::vector<TrialNumber>{0, 1}));
  ASSERT_TRUE(course.course->Steer({.add_trials = 2}));
  EXPECT_EQ(LastOf(course.entries), (SweepSteered{5, {}, {}}));
  EXPECT_EQ(course.course->account().trials(), 5U);
  course.End(0);
  course.End(1);
  EXPECT_EQ(course.RunAll().size(), 3U);
  EXPECT_TRUE(course.course->complete());
  for (TrialNumber trial = 0; trial < 5; ++trial) EXPECT_EQ(course.sampler->At(trial), longer.sampler->At(trial));
}

TEST(SweepSteering, KeepsItsChangesForTheNextHead) {
  SweepDescription description = Random(3);
  description.budget.slots = 1;
  Course killed(100, description);
  killed.ResumeFrom();
  killed.Judge();
  ASSERT_EQ(killed.Start(), std::vector<TrialNumber>{0});
  ASSERT_TRUE(killed.course->Steer({.slots = 2, .add_trials = 4}));
  ASSERT_EQ(killed.Start(), std::vector<TrialNumber>{1});

  Course next(100, description, {{"", 0, 2}}, AccountOf(killed.entries));
  next.ResumeFrom();
  EXPECT_EQ(next.course->account().trials(), 7U);
  next.Judge();
  EXPECT_EQ(next.Start(), (std::vector<TrialNumber>{0, 1})) << "two slots";
  next.End(0);
  next.End(1);
  EXPECT_EQ(next.RunAll().size(), 5U);
  EXPECT_TRUE(next.course->complete());

  std::vector<SweepEntry> all = killed.entries;
  all.insert(all.end(), next.entries.begin(), next.entries.end());
  EXPECT_EQ(AccountOf(all), next.course->account());
}

TEST(SweepSteering, RaisesTheBudgetOfTrialsToo) {
  SweepDescription description = Random(10);
  description.budget.trials = 2;
  Course course(100, description);
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{0, 1}));
  course.End(0);
  course.End(1);
  ASSERT_TRUE(course.course->over());
  ASSERT_TRUE(course.course->Steer({.add_trials = 3}));
  EXPECT_EQ(LastOf(course.entries), (SweepSteered{13, 5, {}}));
  EXPECT_EQ(course.RunAll().size(), 3U);
}

TEST(SweepSteering, AddsNoTrialThatTheSpaceDoesNotHave) {
  Course whole(6);
  whole.ResumeFrom();
  const auto none = whole.course->Steer({.add_trials = 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "no trial can be added: all 6 points of the space are trials already");

  Course part(6, Random(4));
  part.ResumeFrom();
  const auto few = part.course->Steer({.add_trials = 3});
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error(), "at most 2 trials can be added: the sampler has 6 in all");
  EXPECT_EQ(part.entries.size(), 1U) << "nothing is recorded but the head's beginning";
  ASSERT_TRUE(part.course->Steer({.add_trials = 2}));

  SweepDescription limited;
  limited.budget.trials = 2;
  Course grid(6, limited);
  grid.ResumeFrom();
  ASSERT_TRUE(grid.course->Steer({.add_trials = 4})) << "the budget leaves these out";
  EXPECT_EQ(LastOf(grid.entries), (SweepSteered{{}, 6, {}}));
  EXPECT_FALSE(grid.course->Steer({.add_trials = 1}));
}

TEST(SweepSteering, ChangesNothingThatItCannotRecord) {
  Course course(6, WithSlots(1));
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(), std::vector<TrialNumber>{0});
  course.full = true;
  EXPECT_FALSE(course.course->Steer({.slots = 3}));
  EXPECT_EQ(course.course->pool().slots(), 1U);
}

TEST(SweepSteering, IsRefusedOnceTheSweepEnds) {
  Course course(6, WithSlots(1));
  course.ResumeFrom();
  course.course->Stop();
  const auto late = course.course->Steer({.slots = 3});
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().find("muster resume"), std::string::npos);
}

TEST(SweepSteering, AddsToOneShardOfASampler) {
  SweepDescription description = Random(7);
  description.sampler.shard = 1;
  description.sampler.shards = 3;
  Course course(20, description);
  ASSERT_EQ(course.sampler->size(), 2U);
  ASSERT_EQ(course.sampler->limit(), 7U);
  course.ResumeFrom();
  ASSERT_TRUE(course.course->Steer({.add_trials = 3}));
  EXPECT_EQ(course.sampler->size(), 5U);
  const auto again = Sampler::Of(*course.space, course.sampler->choice());
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->size(), 5U) << "an evaluator that is given the choice has the same trials";
}

}  // namespace
}  // namespace muster
