// Tests the trial scheduler: the next trial, and reactions to ends, without processes, journal or clock.
#include "sweep/scheduler/trial_scheduler.h"

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"
#include "sweep/scheduler/trial_hosts.h"

namespace muster {
namespace {

TEST(TrialScheduler, StartsNoSecondTrialWhereOneWaitsForDevices) {
  const TrialNeeds one_device = {{1, 1}};
  Course course(6, {}, {{"", 4, 8}});
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start(one_device), (std::vector<TrialNumber>{0, 1, 2, 3}));
  course.course->running().Waits(3, true);
  EXPECT_EQ(course.course->running().waiting(), 1U);
  EXPECT_EQ(course.course->running().devices_awaited(), 1U);
  course.End(0);
  EXPECT_TRUE(course.Start(one_device).empty()) << "it would only wait behind that one";
  course.course->running().Waits(3, false);
  EXPECT_EQ(course.Start(one_device), std::vector<TrialNumber>{4});
  course.course->running().Waits(4, true);
  course.End(4);
  EXPECT_EQ(course.Start(one_device), std::vector<TrialNumber>{5}) << "one that has ended waits no more";
}

TEST(TrialScheduler, MovesAWaitingTrialToAFreeHost) {
  const TrialNeeds one_device = {{1, 1}};
  Course course(2, {}, {{"n1", 1, 8}, {"n2", 1, 8}});
  course.ResumeFrom();
  course.Judge();
  ASSERT_EQ(course.Start(one_device), (std::vector<TrialNumber>{0, 1}));
  course.course->running().Waits(0, true);
  EXPECT_FALSE(course.course->running().NextToMove()) << "the other host is in use";
  course.End(1);
  ASSERT_EQ(course.course->running().NextToMove(), 0U);
  EXPECT_FALSE(course.course->running().NextToMove()) << "it is on its way";
  TrialScheduler::AttemptEnd end;
  end.interrupted = true;
  course.course->Ended(0, std::move(end));
  EXPECT_EQ(std::get<AttemptEnded>(course.entries.back()).counted, false);
  EXPECT_EQ(std::get<AttemptEnded>(course.entries.back()).trial_class, TrialClass::kPreempted);
  ASSERT_EQ(course.Start(one_device), std::vector<TrialNumber>{0});
  course.course->running().Waits(0, true);
  EXPECT_FALSE(course.course->running().NextToMove()) << "it has left the first host already";
  course.End(0);
  EXPECT_TRUE(course.course->over());
}

TEST(TrialScheduler, StartsTrialsInOrderWhicheverPlanIsReadyFirst) {
  Course course(4);
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.course->planning().NextToPlan(), 0U);
  EXPECT_EQ(course.course->planning().NextToPlan(), 1U);
  EXPECT_TRUE(course.course->planning().Planned(1, "plan", {{0, 1}}));
  EXPECT_EQ(course.course->planning().NextToPlan(), 2U);
  EXPECT_TRUE(course.course->planning().Planned(2, "plan", {{0, 1}}));
  EXPECT_FALSE(course.course->NextStart());
  EXPECT_FALSE(course.course->over());
  course.course->planning().MarkImpossible(0, "it cannot be", "r.lua:3");
  EXPECT_EQ(course.Start(), (std::vector<TrialNumber>{1, 2}));
}

TEST(TrialScheduler, TriesEveryPointOnce) {
  Course all(2'000);
  all.ResumeFrom();
  const auto ends = all.RunAll();
  EXPECT_EQ(ends.size(), 2'000u);
  for (const auto& [trial, times] : ends) EXPECT_EQ(times, 1) << trial;
  EXPECT_TRUE(all.course->complete());
}

TEST(TrialScheduler, SkipsImpossiblePoints) {
  Course some(10);
  some.ResumeFrom();
  some.Judge({{2, 4}, {9, 9}});
  EXPECT_EQ(some.RunAll().size(), 6u);
  EXPECT_EQ(some.course->account().impossible().size(), 4u);
  EXPECT_TRUE(some.course->complete());
}

TEST(TrialScheduler, TriesEqualPointsOnce) {
  Course same(0, {}, {{"", 0, 2}}, {}, Space{.kind = Space::Kind::kUnion, .parts = {Values(2), Values(2), Values(1)}});
  same.ResumeFrom();
  const auto ends = same.RunAll();
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_TRUE(ends.contains(0) && ends.contains(1));
}

TEST(TrialScheduler, ContinuesAfterAKilledHead) {
  Course first(100);
  first.ResumeFrom();
  first.Judge();
  const auto started = first.Start();
  ASSERT_EQ(started.size(), 2u);
  first.End(started[0]);
  const auto more = first.Start();
  ASSERT_EQ(more.size(), 1u);
  // Killed: two attempts have started and not ended.
  Course second(100, {}, {{"", 0, 2}}, AccountOf(first.entries));
  second.ResumeFrom();
  const auto ends = second.RunAll();
  EXPECT_EQ(ends.size(), 99u);
  EXPECT_FALSE(ends.contains(started[0]));
  EXPECT_EQ(ends.at(started[1]), 1);
  std::vector<SweepEntry> all = first.entries;
  all.insert(all.end(), second.entries.begin(), second.entries.end());
  EXPECT_EQ(AccountOf(all).over().size(), 100u);
  EXPECT_EQ(AccountOf(all).attempts(), 102u);
}

TEST(TrialScheduler, RecordsAnEndThatAKilledHeadDidNot) {
  Course first(2);
  first.ResumeFrom();
  first.Judge();
  ASSERT_EQ(first.Start().size(), 2u);
  Course second(2, {}, {{"", 0, 2}}, AccountOf(first.entries));
  SweepBegan began;
  began.trials = 2;
  second.course->ResumeFrom(began,
                            [](TrialNumber trial, const OpenTrial&) -> std::optional<TrialScheduler::AttemptEnd> {
                              if (trial == 1) return std::nullopt;
                              return TrialScheduler::AttemptEnd{};
                            });
  EXPECT_TRUE(second.course->account().over().Has(0));
  EXPECT_EQ(second.RunAll().size(), 1u);
}

TEST(TrialScheduler, RetriesAFailureUpToTheLimit) {
  SweepDescription sweep;
  sweep.retry.max = 1;
  Course course(1, sweep);
  course.ResumeFrom();
  course.Judge();
  EXPECT_EQ(course.Start().size(), 1u);
  course.End(0, TrialClass::kCrash);
  EXPECT_FALSE(course.course->over());
  EXPECT_EQ(course.Start().size(), 1u);
  course.End(0, TrialClass::kCrash);
  EXPECT_TRUE(course.course->complete());
  EXPECT_EQ(course.course->account().count(TrialClass::kCrash), 1u);
}

TEST(TrialScheduler, KeepsRungsAndResultOfATrialResumedFromACheckpoint) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss", false, {}};
  sweep.early_stop.emplace();
  sweep.early_stop->max = 16;  // rungs at steps 1, 4 and 16
  const auto report = [](std::int64_t step, double loss) {
    return MetricValues{{"step", Value(step)}, {"loss", Value(loss)}};
  };
  Course first(1, sweep);
  first.ResumeFrom();
  first.Judge();
  first.Start();
  EXPECT_EQ(first.course->running().Reported(0, report(1, 0.9)).entries.size(), 1U);
  EXPECT_EQ(first.course->running().Reported(0, report(5, 0.5)).entries.size(), 1U);

  Course second(1, sweep, {{"", 0, 2}}, AccountOf(first.entries));
  second.ResumeFrom();
  ASSERT_EQ(second.course->planning().NextToPlan(), 0U);
  ASSERT_TRUE(second.course->planning().Planned(0, "plan of 0", {{0, 1}}));
  ASSERT_TRUE(second.course->NextStart());
  AttemptBegan began = std::get<AttemptBegan>(first.entries[2]);
  began.attempt = 1;
  began.resumed = {0, "/c/step_5"};
  ASSERT_TRUE(second.course->Began(began));
  second.course->running().Recalled(0, report(1, 0.9));
  second.course->running().Recalled(0, {{"step", Value(std::int64_t{2})}, {"loss", Value()}});
  second.course->running().Recalled(0, report(5, 0.5));
  EXPECT_FALSE(second.course->running().progress(0)->diverged());
  EXPECT_EQ(second.course->running().progress(0)->loss(), 0.5);
  EXPECT_TRUE(second.course->running().Reported(0, report(6, 0.4)).entries.empty()) << "it has passed rungs 1 and 2";
  const auto last = second.course->running().Reported(0, report(16, 0.3));
  ASSERT_EQ(last.entries.size(), 1U);
  EXPECT_EQ(std::get<RungReached>(last.entries.front()).decision.rung, 2U);
  EXPECT_EQ(std::get<RungReached>(last.entries.front()).attempt, 1U);
  second.End(0);
  const AttemptEnded& ended = std::get<AttemptEnded>(second.entries.back());
  EXPECT_EQ(ended.loss, 0.3);
  EXPECT_EQ(ended.metrics.at("step"), Value(std::int64_t{16}));
}

TEST(TrialScheduler, StopsIfAnAttemptHasAnotherPlan) {
  SweepDescription sweep;
  sweep.retry.max = 1;
  Course course(1, sweep);
  course.ResumeFrom();
  course.Judge();
  course.Start();
  course.End(0, TrialClass::kCrash);
  ASSERT_EQ(course.course->planning().NextToPlan(), 0u);
  const auto planned = course.course->planning().Planned(0, "another", {{0, 1}});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().front().kind, "plan_changed");
  EXPECT_NE(planned.error().front().message.find("x=0"), std::string::npos);
}

TEST(TrialScheduler, UsesAnotherPlanOnceTheUserHasAcceptedTheChange) {
  Course first(1);
  first.ResumeFrom();
  first.Judge();
  ASSERT_EQ(first.Start().size(), 1u);
  // Killed, and resumed after a change of the recipe.
  Course second(1, {}, {{"", 0, 2}}, AccountOf(first.entries));
  SweepBegan began;
  began.trials = 1;
  began.accepted = true;
  second.course->ResumeFrom(began, [](TrialNumber, const OpenTrial&) { return std::nullopt; });
  ASSERT_EQ(second.course->planning().NextToPlan(), 0u);
  EXPECT_TRUE(second.course->planning().Planned(0, "another", {{0, 1}}));
}

TEST(TrialScheduler, DoesNothingThatItCannotRecord) {
  Course course(10);
  course.ResumeFrom();
  course.Judge();
  while (const auto trial = course.course->planning().NextToPlan())
    course.course->planning().Planned(*trial, "plan", {{0, 1}});
  course.full = true;
  const auto start = course.course->NextStart();
  ASSERT_TRUE(start);
  AttemptBegan began;
  began.trial = start->trial;
  EXPECT_FALSE(course.course->Began(began));
  EXPECT_TRUE(course.course->stopping());
  EXPECT_FALSE(course.course->NextStart());
  EXPECT_TRUE(course.course->over()) << "what was not started is not waited for";
}

TEST(TrialScheduler, RespectsTheNumberOfTrials) {
  SweepDescription sweep;
  sweep.budget.trials = 7;
  Course course(100, sweep);
  course.ResumeFrom();
  EXPECT_EQ(course.RunAll().size(), 7u);
  EXPECT_FALSE(course.course->complete());
}

TEST(TrialScheduler, QuarantinesAHostAndReschedulesItsTrials) {
  SweepDescription sweep;
  sweep.retry.quarantine_host_after = 2;
  Course course(20, sweep, {{"n1", 1, 1}, {"n2", 1, 1}});
  course.ResumeFrom();
  std::map<TrialNumber, int> well;
  std::map<TrialNumber, std::uint32_t> on;
  while (!course.course->over()) {
    course.Judge();
    while (const auto trial = course.course->planning().NextToPlan()) {
      ASSERT_TRUE(course.course->planning().Planned(*trial, "plan of " + std::to_string(*trial), {{1, 1}}));
    }
    std::vector<TrialQueue::Start> starts;
    while (auto start = course.course->NextStart()) {
      AttemptBegan began;
      began.trial = start->trial;
      began.attempt = course.course->NextAttempt(start->trial);
      began.point = course.sampler->At(start->trial);
      began.id = PointId(began.point);
      began.plan = "plan of " + std::to_string(start->trial);
      ASSERT_TRUE(course.course->Began(began));
      starts.push_back(*start);
    }
    ASSERT_FALSE(starts.empty());
    for (const auto& start : starts) {
      const bool sick = start.hosts.front() == 1;
      course.End(start.trial, sick ? TrialClass::kCrash : TrialClass::kOk);
      if (!sick) ++well[start.trial];
    }
  }
  EXPECT_EQ(course.course->account().quarantined(), (std::set<std::string>{"n2"}));
  EXPECT_EQ(well.size(), 20u);  // none has failed for good
  EXPECT_TRUE(course.course->complete());
}

TEST(TrialScheduler, ReportsTrialsThatFitOnNoHost) {
  Course course(3, {}, {{"n1", 4, 1}});
  course.ResumeFrom();
  course.Judge();
  EXPECT_TRUE(course.Start({{8, 8}}).empty());
  EXPECT_TRUE(course.course->over());
  EXPECT_FALSE(course.course->complete());
  EXPECT_EQ(course.course->Hopeless(),
            "3 trials cannot be started: it needs 8 devices of a host, and no host of the sweep has more than 4");
}

TEST(TrialScheduler, ClosesAPointThatTurnsOutImpossibleAfterAnAttempt) {
  SweepDescription sweep;
  sweep.retry.max = 3;
  Course course(2, sweep);
  course.ResumeFrom();
  course.Judge();
  ASSERT_EQ(course.Start().size(), 2u);
  course.End(0);
  course.End(1, TrialClass::kCrash);
  ASSERT_EQ(course.course->planning().NextToPlan(), 1u);
  course.course->planning().MarkImpossible(1, "it cannot be any more", "r.lua:3");
  EXPECT_TRUE(course.course->over());
  EXPECT_TRUE(course.course->complete());
  EXPECT_EQ(course.course->account().impossible().size(), 1u);
}

TEST(TrialScheduler, GrantsRetriesAgainAfterReopening) {
  Course first(1);
  first.ResumeFrom();
  first.Judge();
  for (std::uint32_t i = 0; i <= kMaxUncounted; ++i) {
    ASSERT_EQ(first.Start().size(), 1u);
    first.End(0, TrialClass::kHostLost);
  }
  ASSERT_TRUE(first.course->complete());
  Course second(1, {}, {{"", 0, 2}}, AccountOf(first.entries));
  SweepBegan began;
  began.trials = 1;
  second.course->ResumeFrom(began, [](TrialNumber, const OpenTrial&) { return std::nullopt; }, {{0, 0}});
  ASSERT_EQ(second.Start().size(), 1u);
  second.End(0, TrialClass::kHostLost);
  EXPECT_FALSE(second.course->over());
}

TEST(TrialScheduler, StopsWeakTrialsAndRepeatsItsDecisions) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss"};
  sweep.early_stop = EarlyStopChoice{.min = 1, .max = 4, .eta = 2};
  Course course(4, sweep, {{"", 0, 4}});
  course.ResumeFrom();
  course.Judge();
  ASSERT_EQ(course.Start().size(), 4u);
  const auto report = [&](TrialNumber trial, int step, double loss) {
    return course.course->running().Reported(trial, {{"step", Value(step)}, {"loss", Value(loss)}}).stop;
  };
  EXPECT_FALSE(report(0, 1, 0.5));
  EXPECT_TRUE(report(1, 1, 0.9));   // 2 of 2, 1 continues
  EXPECT_FALSE(report(2, 1, 0.1));  // 1 of 3
  EXPECT_FALSE(report(0, 2, 0.4));  // the first at the second rung
  EXPECT_FALSE(report(3, 1, 0.2));  // 2 of 4, 2 continue
  // A resumed head has the same state.
  Course again(4, sweep, {{"", 0, 4}}, AccountOf(course.entries));
  EXPECT_EQ(again.course->account().rung_reports().size(), 5u);
}

TEST(TrialScheduler, CountsNanAsDivergence) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss"};
  Course course(1, sweep);
  course.ResumeFrom();
  course.Judge();
  course.Start();
  const auto outcome = course.course->running().Reported(0, {{"loss", Value(std::nan(""))}});
  EXPECT_TRUE(outcome.stop);
  EXPECT_TRUE(course.course->running().progress(0)->diverged());
}

}  // namespace
}  // namespace muster
