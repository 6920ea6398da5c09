// Tests the trial scheduler: the next trial, and reactions to ends, without processes, journal or clock.
#include "sweep/scheduler/trial_scheduler.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"
#include "sweep/scheduler/trial_hosts.h"

namespace muster {
namespace {

TEST(TrialScheduler, StartsNoSecondTrialWhereOneWaitsForDevices) {
  const TrialNeeds one_device = {{1, 1}};
  ScheduledSweep scheduled(6, {}, {{"", 4, 8}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start(one_device), (std::vector<TrialNumber>{0, 1, 2, 3}));
  scheduled.scheduler->running().Waits(3, true);
  EXPECT_EQ(scheduled.scheduler->running().waiting(), 1U);
  EXPECT_EQ(scheduled.scheduler->running().devices_awaited(), 1U);
  scheduled.End(0);
  EXPECT_TRUE(scheduled.Start(one_device).empty()) << "it would only wait behind that one";
  scheduled.scheduler->running().Waits(3, false);
  EXPECT_EQ(scheduled.Start(one_device), std::vector<TrialNumber>{4});
  scheduled.scheduler->running().Waits(4, true);
  scheduled.End(4);
  EXPECT_EQ(scheduled.Start(one_device), std::vector<TrialNumber>{5}) << "one that has ended waits no more";
}

TEST(TrialScheduler, MovesAWaitingTrialToAFreeHost) {
  const TrialNeeds one_device = {{1, 1}};
  ScheduledSweep scheduled(2, {}, {{"n1", 1, 8}, {"n2", 1, 8}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  ASSERT_EQ(scheduled.Start(one_device), (std::vector<TrialNumber>{0, 1}));
  scheduled.scheduler->running().Waits(0, true);
  EXPECT_FALSE(scheduled.scheduler->running().NextToMove()) << "the other host is in use";
  scheduled.End(1);
  ASSERT_EQ(scheduled.scheduler->running().NextToMove(), 0U);
  EXPECT_FALSE(scheduled.scheduler->running().NextToMove()) << "it is on its way";
  TrialScheduler::AttemptEnd end;
  end.interrupted = true;
  scheduled.scheduler->Ended(0, std::move(end));
  EXPECT_EQ(std::get<AttemptEnded>(scheduled.entries.back()).counted, false);
  EXPECT_EQ(std::get<AttemptEnded>(scheduled.entries.back()).trial_class, TrialClass::kPreempted);
  ASSERT_EQ(scheduled.Start(one_device), std::vector<TrialNumber>{0});
  scheduled.scheduler->running().Waits(0, true);
  EXPECT_FALSE(scheduled.scheduler->running().NextToMove()) << "it has left the first host already";
  scheduled.End(0);
  EXPECT_TRUE(scheduled.scheduler->over());
}

TrialScheduler::AttemptEnd Crashed(std::optional<double> step, const std::string& fingerprint = "f") {
  TrialScheduler::AttemptEnd end;
  end.trial_class = TrialClass::kCrash;
  end.why = "worker.0 exited with code 3";
  end.judged.emplace();
  end.judged->failure_class = "exit";
  end.judged->fingerprint = fingerprint;
  end.judged->host_name = "host0";
  end.judged->step = step;
  end.judged->ready = true;
  return end;
}

TEST(TrialScheduler, DoesNotRetryWhatAVerdictStops) {
  for (const bool verdict : {true, false}) {
    SweepDescription sweep;
    sweep.retry.max = 5;
    sweep.retry.verdict = verdict;
    ScheduledSweep scheduled(1, sweep);
    scheduled.ResumeFrom();
    scheduled.Judge();
    ASSERT_EQ(scheduled.Start(), std::vector<TrialNumber>{0});
    scheduled.scheduler->Ended(0, Crashed(7));
    EXPECT_TRUE(std::get<AttemptEnded>(scheduled.entries.back()).again) << "once says nothing";
    ASSERT_EQ(scheduled.Start(), std::vector<TrialNumber>{0});
    scheduled.scheduler->Ended(0, Crashed(7));
    const auto& ended = std::get<AttemptEnded>(scheduled.entries.back());
    EXPECT_EQ(ended.again, !verdict);
    EXPECT_EQ(ended.verdict, verdict ? "stop" : "");
    EXPECT_EQ(ended.rule, verdict ? "same failure again" : "");
    EXPECT_EQ(ended.why, verdict
                             ? "worker.0 exited with code 3; not retried: the same failure happened 2 times at step 7"
                             : "worker.0 exited with code 3");
  }
}

TEST(TrialScheduler, QuarantinesAHostThatAVerdictExcludes) {
  SweepDescription sweep;
  sweep.retry.max = 5;
  sweep.retry.verdict = true;
  sweep.retry.quarantine_host_after = 0;
  const TrialNeeds one_device = {{1, 1}};
  ScheduledSweep scheduled(1, sweep, {{"n1", 1, 8}, {"n2", 1, 8}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  ASSERT_EQ(scheduled.Start(one_device), std::vector<TrialNumber>{0});
  scheduled.scheduler->Ended(0, Crashed({}, "f"));
  ASSERT_EQ(scheduled.Start(one_device), std::vector<TrialNumber>{0});
  scheduled.scheduler->Ended(0, Crashed({}, "g"));
  const auto* const quarantined = std::get_if<HostQuarantined>(&scheduled.entries.back());
  ASSERT_NE(quarantined, nullptr);
  EXPECT_EQ(quarantined->host, "n1");
  EXPECT_EQ(quarantined->why, "the last 2 failures happened on n1, and none on the other hosts");
}

// A trial that has failed once, and whose next attempt runs when the head is killed.
std::vector<SweepEntry> FailedOnce(const SweepDescription& sweep, const std::vector<PoolHost>& hosts) {
  ScheduledSweep before(1, sweep, hosts);
  before.ResumeFrom();
  before.Judge();
  EXPECT_EQ(before.Start({{1, 1}}), std::vector<TrialNumber>{0});
  before.scheduler->Ended(0, Crashed(7));
  EXPECT_EQ(before.Start({{1, 1}}), std::vector<TrialNumber>{0});
  return before.entries;
}

const std::vector<PoolHost> kTwoHosts = {{"n1", 1, 8}, {"n2", 1, 8}};

TEST(TrialScheduler, JudgesFailuresUnderEarlierHeadsToo) {
  SweepDescription sweep;
  sweep.retry.max = 5;
  sweep.retry.verdict = true;
  sweep.retry.quarantine_host_after = 0;
  const std::vector<PoolHost> one = {{"n1", 1, 8}};
  const auto entries = FailedOnce(sweep, one);
  for (const bool same : {true, false}) {
    ScheduledSweep after(1, sweep, one, ProgressOf(entries), {}, {}, entries);
    after.failures[{0, 0}] = *Crashed(7).judged;
    after.ResumeFrom();
    after.Judge();
    ASSERT_EQ(after.Start({{1, 1}}), std::vector<TrialNumber>{0});
    after.scheduler->Ended(0, Crashed(same ? 7 : 8));
    const auto& ended = std::get<AttemptEnded>(after.entries.back());
    EXPECT_EQ(ended.attempt, 2U);
    EXPECT_EQ(ended.again, !same);
    if (!same) continue;
    EXPECT_EQ(ended.why, "worker.0 exited with code 3; not retried: the same failure happened 2 times at step 7");
    // muster retry: what failed before does not count.
    std::vector<SweepEntry> all = entries;
    all.insert(all.end(), after.entries.begin(), after.entries.end());
    all.emplace_back(TrialsReopened{{{0, 0}}});
    ScheduledSweep again(1, sweep, one, ProgressOf(all), {}, {}, all);
    again.failures = {{{0, 0}, *Crashed(7).judged}, {{0, 2}, *Crashed(7).judged}};
    again.ResumeFrom();
    ASSERT_EQ(again.Start({{1, 1}}), std::vector<TrialNumber>{0});
    again.scheduler->Ended(0, Crashed(7));
    EXPECT_TRUE(std::get<AttemptEnded>(again.entries.back()).again);
  }
}

TEST(TrialScheduler, ExcludesAHostForFailuresUnderTwoHeads) {
  SweepDescription sweep;
  sweep.retry.max = 5;
  sweep.retry.verdict = true;
  sweep.retry.quarantine_host_after = 0;
  const auto entries = FailedOnce(sweep, kTwoHosts);
  ScheduledSweep after(1, sweep, kTwoHosts, ProgressOf(entries), {}, {}, entries);
  after.failures[{0, 0}] = *Crashed({}, "f").judged;
  after.ResumeFrom();
  after.Judge();
  ASSERT_EQ(after.Start({{1, 1}}), std::vector<TrialNumber>{0});
  after.scheduler->Ended(0, Crashed({}, "g"));
  EXPECT_EQ(after.entries.back(),
            SweepEntry(HostQuarantined{"n1", "the last 2 failures happened on n1, and none on the other hosts", true}));
}

TEST(TrialScheduler, KeepsExcludedHostsOutUnderLaterHeads) {
  const auto resumed = [](std::vector<SweepEntry> quarantined, bool all_hosts = false) {
    quarantined.insert(quarantined.begin(), SweepBegan{"id", "name", 4, 1, 2, "b", "m", "r", false});
    auto sweep = std::make_unique<ScheduledSweep>(4, SweepDescription(), kTwoHosts, ProgressOf(quarantined),
                                                  std::optional<Space>(), nullptr, quarantined);
    sweep->ResumeFrom(all_hosts);
    return sweep;
  };
  const HostQuarantined excluded{"n1", "it has failed", true};
  EXPECT_TRUE(resumed({excluded})->scheduler->pool().closed(0));
  EXPECT_FALSE(resumed({excluded})->scheduler->pool().closed(1));
  const auto later = resumed({excluded, SweepBegan{"id", "name", 4, 1, 2, "b", "m", "r", false}});
  EXPECT_TRUE(later->scheduler->pool().closed(0)) << "under all later heads";
  later->scheduler->hosts().Open(0);
  EXPECT_TRUE(later->scheduler->pool().closed(0)) << "its agent being connected again changes nothing";
  EXPECT_FALSE(resumed({excluded}, true)->scheduler->pool().closed(0)) << "its user has named the hosts";
  EXPECT_FALSE(resumed({HostQuarantined{"n1", "unreachable"}})->scheduler->pool().closed(0)) << "it is tried again";
  const auto none_left = resumed({excluded, HostQuarantined{"n2", "it has failed", true}});
  EXPECT_FALSE(none_left->scheduler->pool().closed(0));
  EXPECT_FALSE(none_left->scheduler->pool().closed(1));
}

TEST(TrialScheduler, CountsFailuresInARowOnAHostOverHeads) {
  SweepDescription sweep;
  sweep.retry.quarantine_host_after = 2;
  ScheduledSweep before(4, sweep, kTwoHosts);
  before.ResumeFrom();
  before.Judge();
  ASSERT_EQ(before.Start({{1, 1}}), (std::vector<TrialNumber>{0, 1}));
  before.End(0, TrialClass::kCrash);
  before.End(1);
  ScheduledSweep after(4, sweep, kTwoHosts, ProgressOf(before.entries), {}, {}, before.entries);
  after.ResumeFrom();
  after.Judge();
  ASSERT_EQ(after.Start({{1, 1}}), (std::vector<TrialNumber>{2, 3}));
  after.End(3);
  after.End(2, TrialClass::kCrash);
  const auto is_n1 = [](const SweepEntry& entry) {
    const auto* const quarantined = std::get_if<HostQuarantined>(&entry);
    return quarantined != nullptr && quarantined->host == "n1" && quarantined->stays;
  };
  EXPECT_EQ(std::count_if(after.entries.begin(), after.entries.end(), is_n1), 1);
}

TEST(TrialScheduler, StartsTrialsInOrderWhicheverPlanIsReadyFirst) {
  ScheduledSweep scheduled(4);
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.scheduler->planning().NextToPlan(), 0U);
  EXPECT_EQ(scheduled.scheduler->planning().NextToPlan(), 1U);
  EXPECT_TRUE(scheduled.scheduler->planning().Planned(1, "plan", {{0, 1}}));
  EXPECT_EQ(scheduled.scheduler->planning().NextToPlan(), 2U);
  EXPECT_TRUE(scheduled.scheduler->planning().Planned(2, "plan", {{0, 1}}));
  EXPECT_FALSE(scheduled.scheduler->NextStart());
  EXPECT_FALSE(scheduled.scheduler->over());
  scheduled.scheduler->planning().MarkImpossible(0, "it cannot be", "r.lua:3");
  EXPECT_EQ(scheduled.Start(), (std::vector<TrialNumber>{1, 2}));
}

TEST(TrialScheduler, TriesEveryPointOnce) {
  ScheduledSweep all(2'000);
  all.ResumeFrom();
  const auto ends = all.RunAll();
  EXPECT_EQ(ends.size(), 2'000u);
  for (const auto& [trial, times] : ends) EXPECT_EQ(times, 1) << trial;
  EXPECT_TRUE(all.scheduler->complete());
}

TEST(TrialScheduler, SkipsImpossiblePoints) {
  ScheduledSweep some(10);
  some.ResumeFrom();
  some.Judge({{2, 4}, {9, 9}});
  EXPECT_EQ(some.RunAll().size(), 6u);
  EXPECT_EQ(some.scheduler->progress().impossible().size(), 4u);
  EXPECT_TRUE(some.scheduler->complete());
}

TEST(TrialScheduler, TriesEqualPointsOnce) {
  ScheduledSweep same(0, {}, {{"", 0, 2}}, {},
                      Space{.kind = Space::Kind::kUnion, .parts = {Values(2), Values(2), Values(1)}});
  same.ResumeFrom();
  const auto ends = same.RunAll();
  EXPECT_EQ(ends.size(), 2u);
  EXPECT_TRUE(ends.contains(0) && ends.contains(1));
}

TEST(TrialScheduler, ContinuesAfterAKilledHead) {
  ScheduledSweep first(100);
  first.ResumeFrom();
  first.Judge();
  const auto started = first.Start();
  ASSERT_EQ(started.size(), 2u);
  first.End(started[0]);
  const auto more = first.Start();
  ASSERT_EQ(more.size(), 1u);
  // Killed: two attempts have started and not ended.
  ScheduledSweep second(100, {}, {{"", 0, 2}}, ProgressOf(first.entries));
  second.ResumeFrom();
  const auto ends = second.RunAll();
  EXPECT_EQ(ends.size(), 99u);
  EXPECT_FALSE(ends.contains(started[0]));
  EXPECT_EQ(ends.at(started[1]), 1);
  std::vector<SweepEntry> all = first.entries;
  all.insert(all.end(), second.entries.begin(), second.entries.end());
  EXPECT_EQ(ProgressOf(all).over().size(), 100u);
  EXPECT_EQ(ProgressOf(all).attempts(), 102u);
}

TEST(TrialScheduler, RecordsAnEndThatAKilledHeadDidNot) {
  ScheduledSweep first(2);
  first.ResumeFrom();
  first.Judge();
  ASSERT_EQ(first.Start().size(), 2u);
  ScheduledSweep second(2, {}, {{"", 0, 2}}, ProgressOf(first.entries));
  SweepBegan began;
  began.trials = 2;
  second.scheduler->ResumeFrom(began,
                               [](TrialNumber trial, const OpenTrial&) -> std::optional<TrialScheduler::AttemptEnd> {
                                 if (trial == 1) return std::nullopt;
                                 return TrialScheduler::AttemptEnd{};
                               });
  EXPECT_TRUE(second.scheduler->progress().over().Has(0));
  EXPECT_EQ(second.RunAll().size(), 1u);
}

TEST(TrialScheduler, RetriesAFailureUpToTheLimit) {
  SweepDescription sweep;
  sweep.retry.max = 1;
  ScheduledSweep scheduled(1, sweep);
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_EQ(scheduled.Start().size(), 1u);
  scheduled.End(0, TrialClass::kCrash);
  EXPECT_FALSE(scheduled.scheduler->over());
  EXPECT_EQ(scheduled.Start().size(), 1u);
  scheduled.End(0, TrialClass::kCrash);
  EXPECT_TRUE(scheduled.scheduler->complete());
  EXPECT_EQ(scheduled.scheduler->progress().count(TrialClass::kCrash), 1u);
}

TEST(TrialScheduler, KeepsRungsAndResultOfATrialResumedFromACheckpoint) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss", false, {}};
  sweep.early_stop.emplace();
  sweep.early_stop->max = 16;  // rungs at steps 1, 4 and 16
  const auto report = [](std::int64_t step, double loss) {
    return MetricValues{{"step", Value(step)}, {"loss", Value(loss)}};
  };
  ScheduledSweep first(1, sweep);
  first.ResumeFrom();
  first.Judge();
  first.Start();
  EXPECT_EQ(first.scheduler->running().Reported(0, report(1, 0.9)).entries.size(), 1U);
  EXPECT_EQ(first.scheduler->running().Reported(0, report(5, 0.5)).entries.size(), 1U);

  ScheduledSweep second(1, sweep, {{"", 0, 2}}, ProgressOf(first.entries));
  second.ResumeFrom();
  ASSERT_EQ(second.scheduler->planning().NextToPlan(), 0U);
  ASSERT_TRUE(second.scheduler->planning().Planned(0, "plan of 0", {{0, 1}}));
  ASSERT_TRUE(second.scheduler->NextStart());
  AttemptBegan began = std::get<AttemptBegan>(first.entries[2]);
  began.attempt = 1;
  began.resumed = {0, "/c/step_5"};
  ASSERT_TRUE(second.scheduler->Began(began));
  second.scheduler->running().Recalled(0, report(1, 0.9));
  second.scheduler->running().Recalled(0, {{"step", Value(std::int64_t{2})}, {"loss", Value()}});
  second.scheduler->running().Recalled(0, report(5, 0.5));
  EXPECT_FALSE(second.scheduler->running().progress(0)->diverged());
  EXPECT_EQ(second.scheduler->running().progress(0)->loss(), 0.5);
  EXPECT_TRUE(second.scheduler->running().Reported(0, report(6, 0.4)).entries.empty()) << "it has passed rungs 1 and 2";
  const auto last = second.scheduler->running().Reported(0, report(16, 0.3));
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
  ScheduledSweep scheduled(1, sweep);
  scheduled.ResumeFrom();
  scheduled.Judge();
  scheduled.Start();
  scheduled.End(0, TrialClass::kCrash);
  ASSERT_EQ(scheduled.scheduler->planning().NextToPlan(), 0u);
  const auto planned = scheduled.scheduler->planning().Planned(0, "another", {{0, 1}});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.error().front().kind, "plan_changed");
  EXPECT_NE(planned.error().front().message.find("x=0"), std::string::npos);
}

TEST(TrialScheduler, UsesAnotherPlanOnceTheUserHasAcceptedTheChange) {
  ScheduledSweep first(1);
  first.ResumeFrom();
  first.Judge();
  ASSERT_EQ(first.Start().size(), 1u);
  // Killed, and resumed after a change of the recipe.
  ScheduledSweep second(1, {}, {{"", 0, 2}}, ProgressOf(first.entries));
  SweepBegan began;
  began.trials = 1;
  began.accepted = true;
  second.scheduler->ResumeFrom(began, [](TrialNumber, const OpenTrial&) { return std::nullopt; });
  ASSERT_EQ(second.scheduler->planning().NextToPlan(), 0u);
  EXPECT_TRUE(second.scheduler->planning().Planned(0, "another", {{0, 1}}));
}

TEST(TrialScheduler, DoesNothingThatItCannotRecord) {
  ScheduledSweep scheduled(10);
  scheduled.ResumeFrom();
  scheduled.Judge();
  while (const auto trial = scheduled.scheduler->planning().NextToPlan())
    scheduled.scheduler->planning().Planned(*trial, "plan", {{0, 1}});
  scheduled.full = true;
  const auto start = scheduled.scheduler->NextStart();
  ASSERT_TRUE(start);
  AttemptBegan began;
  began.trial = start->trial;
  EXPECT_FALSE(scheduled.scheduler->Began(began));
  EXPECT_TRUE(scheduled.scheduler->stopping());
  EXPECT_FALSE(scheduled.scheduler->NextStart());
  EXPECT_TRUE(scheduled.scheduler->over()) << "what was not started is not waited for";
}

TEST(TrialScheduler, RespectsTheNumberOfTrials) {
  SweepDescription sweep;
  sweep.budget.trials = 7;
  ScheduledSweep scheduled(100, sweep);
  scheduled.ResumeFrom();
  EXPECT_EQ(scheduled.RunAll().size(), 7u);
  EXPECT_FALSE(scheduled.scheduler->complete());
}

TEST(TrialScheduler, QuarantinesAHostAndReschedulesItsTrials) {
  SweepDescription sweep;
  sweep.retry.quarantine_host_after = 2;
  ScheduledSweep scheduled(20, sweep, {{"n1", 1, 1}, {"n2", 1, 1}});
  scheduled.ResumeFrom();
  std::map<TrialNumber, int> well;
  std::map<TrialNumber, std::uint32_t> on;
  while (!scheduled.scheduler->over()) {
    scheduled.Judge();
    while (const auto trial = scheduled.scheduler->planning().NextToPlan()) {
      ASSERT_TRUE(scheduled.scheduler->planning().Planned(*trial, "plan of " + std::to_string(*trial), {{1, 1}}));
    }
    std::vector<TrialQueue::Start> starts;
    while (auto start = scheduled.scheduler->NextStart()) {
      AttemptBegan began;
      began.trial = start->trial;
      began.attempt = scheduled.scheduler->NextAttempt(start->trial);
      began.point = scheduled.sampler->At(start->trial);
      began.id = PointId(began.point);
      began.plan = "plan of " + std::to_string(start->trial);
      ASSERT_TRUE(scheduled.scheduler->Began(began));
      starts.push_back(*start);
    }
    ASSERT_FALSE(starts.empty());
    for (const auto& start : starts) {
      const bool sick = start.hosts.front() == 1;
      scheduled.End(start.trial, sick ? TrialClass::kCrash : TrialClass::kOk);
      if (!sick) ++well[start.trial];
    }
  }
  EXPECT_EQ(scheduled.scheduler->progress().quarantined(), (std::map<std::string, bool>{{"n2", true}}));
  EXPECT_EQ(well.size(), 20u);  // none has failed for good
  EXPECT_TRUE(scheduled.scheduler->complete());
}

TEST(TrialScheduler, ReportsTrialsThatFitOnNoHost) {
  ScheduledSweep scheduled(3, {}, {{"n1", 4, 1}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  EXPECT_TRUE(scheduled.Start({{8, 8}}).empty());
  EXPECT_TRUE(scheduled.scheduler->over());
  EXPECT_FALSE(scheduled.scheduler->complete());
  EXPECT_EQ(scheduled.scheduler->Hopeless(),
            "3 trials cannot be started: it needs 8 devices of a host, and no host of the sweep has more than 4");
}

TEST(TrialScheduler, ClosesAPointThatTurnsOutImpossibleAfterAnAttempt) {
  SweepDescription sweep;
  sweep.retry.max = 3;
  ScheduledSweep scheduled(2, sweep);
  scheduled.ResumeFrom();
  scheduled.Judge();
  ASSERT_EQ(scheduled.Start().size(), 2u);
  scheduled.End(0);
  scheduled.End(1, TrialClass::kCrash);
  ASSERT_EQ(scheduled.scheduler->planning().NextToPlan(), 1u);
  scheduled.scheduler->planning().MarkImpossible(1, "it cannot be any more", "r.lua:3");
  EXPECT_TRUE(scheduled.scheduler->over());
  EXPECT_TRUE(scheduled.scheduler->complete());
  EXPECT_EQ(scheduled.scheduler->progress().impossible().size(), 1u);
}

TEST(TrialScheduler, GrantsRetriesAgainAfterReopening) {
  ScheduledSweep first(1);
  first.ResumeFrom();
  first.Judge();
  for (std::uint32_t i = 0; i <= kMaxUncounted; ++i) {
    ASSERT_EQ(first.Start().size(), 1u);
    first.End(0, TrialClass::kHostLost);
  }
  ASSERT_TRUE(first.scheduler->complete());
  ScheduledSweep second(1, {}, {{"", 0, 2}}, ProgressOf(first.entries));
  SweepBegan began;
  began.trials = 1;
  second.scheduler->ResumeFrom(began, [](TrialNumber, const OpenTrial&) { return std::nullopt; }, {{0, 0}});
  ASSERT_EQ(second.Start().size(), 1u);
  second.End(0, TrialClass::kHostLost);
  EXPECT_FALSE(second.scheduler->over());
}

TEST(TrialScheduler, StopsWeakTrialsAndRepeatsItsDecisions) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss"};
  sweep.early_stop = EarlyStopChoice{.min = 1, .max = 4, .eta = 2};
  ScheduledSweep scheduled(4, sweep, {{"", 0, 4}});
  scheduled.ResumeFrom();
  scheduled.Judge();
  ASSERT_EQ(scheduled.Start().size(), 4u);
  const auto report = [&](TrialNumber trial, int step, double loss) {
    return scheduled.scheduler->running().Reported(trial, {{"step", Value(step)}, {"loss", Value(loss)}}).stop;
  };
  EXPECT_FALSE(report(0, 1, 0.5));
  EXPECT_TRUE(report(1, 1, 0.9));   // 2 of 2, 1 continues
  EXPECT_FALSE(report(2, 1, 0.1));  // 1 of 3
  EXPECT_FALSE(report(0, 2, 0.4));  // the first at the second rung
  EXPECT_FALSE(report(3, 1, 0.2));  // 2 of 4, 2 continue
  // A resumed head has the same state.
  ScheduledSweep again(4, sweep, {{"", 0, 4}}, ProgressOf(scheduled.entries));
  EXPECT_EQ(again.scheduler->progress().rung_reports().size(), 5u);
}

// ASHA with promotion over x = 0, 1, …, each of which has the loss that `losses` gives, at every step; a little more
// with each further seed.
class PausedTrials : public ScheduledSweep {
 public:
  explicit PausedTrials(std::vector<double> losses, std::vector<SweepEntry> before = {},
                        std::optional<SeedsChoice> seeds = {})
      : ScheduledSweep(
            static_cast<std::int64_t>(losses.size()), Promoting(seeds), {{"", 0, 1}}, ProgressOf(before),
            seeds ? std::optional(WithSeeds(Values(static_cast<std::int64_t>(losses.size())), *seeds)) : std::nullopt,
            {}, seeds ? before : std::vector<SweepEntry>()),
        losses_(std::move(losses)) {
    entries = std::move(before);
    ResumeFrom();
  }
  static SweepDescription Promoting(std::optional<SeedsChoice> seeds = {}) {
    SweepDescription sweep;
    sweep.sampler.seeds = std::move(seeds);
    sweep.objective = Objective{"loss"};
    sweep.early_stop = EarlyStopChoice{.min = 1, .max = 4, .eta = 2, .promote = true};
    return sweep;
  }
  // Runs the trial that starts next until it is paused, or to step 4; "trial:step-step", or "" if none starts.
  std::string RunNext() {
    Judge();
    while (const auto trial = scheduler->planning().NextToPlan()) {
      EXPECT_TRUE(scheduler->planning().Planned(*trial, "plan of " + std::to_string(*trial), {{0, 1}}));
    }
    const auto start = scheduler->NextStart();
    if (!start) return "";
    const TrialNumber trial = start->trial;
    AttemptBegan began;
    began.trial = trial;
    began.attempt = scheduler->NextAttempt(trial);
    began.point = trial_points->At(trial);
    began.id = PointId(began.point);
    began.plan = "plan of " + std::to_string(trial);
    int& step = steps[trial];
    const auto seed = began.point.find("seed");
    const double loss = losses_[static_cast<std::size_t>(*began.point.at("x").AsInt())] +
                        (seed == began.point.end() ? 0 : 0.03 * static_cast<double>(*seed->second.AsInt()));
    if (began.attempt > 0) began.resumed = {began.attempt - 1, "/c/step_" + std::to_string(step)};
    EXPECT_TRUE(scheduler->Began(began));
    const int first = step + 1;
    bool stopped = false;
    while (!stopped && step < 4) {
      stopped = scheduler->running().Reported(trial, {{"step", Value(++step)}, {"loss", Value(loss)}}).stop;
    }
    End(trial, stopped ? TrialClass::kStopped : TrialClass::kOk, {}, loss);
    return std::to_string(trial) + ":" + std::to_string(first) + "-" + std::to_string(step);
  }
  std::vector<std::string> RunToEnd() {
    std::vector<std::string> runs;
    for (std::string run = RunNext(); !run.empty(); run = RunNext()) runs.push_back(run);
    return runs;
  }
  std::map<TrialNumber, int> steps;

 private:
  std::vector<double> losses_;
};

TEST(TrialScheduler, ContinuesTheBestPausedTrialBeforeItStartsAnother) {
  PausedTrials paused({0.5, 0.9, 0.1, 0.8, 0.3});
  EXPECT_EQ(paused.RunToEnd(), (std::vector<std::string>{"0:1-1", "1:1-1", "0:2-2", "2:1-4", "3:1-1", "4:1-2"}))
      << "2 is the best wherever it comes, so it is not paused";
  EXPECT_TRUE(paused.scheduler->complete());
  const SweepProgress& progress = paused.scheduler->progress();
  EXPECT_EQ(progress.count(TrialClass::kOk), 1U);
  EXPECT_EQ(progress.count(TrialClass::kStopped), 4U) << "what is still paused is over";
  EXPECT_EQ(progress.best()->trial, 2U);
  EXPECT_EQ(progress.over().size(), 5U);
  EXPECT_EQ(progress.paused().size(), 4U);
}

TEST(TrialScheduler, MakesTheSamePromotionsAfterAnyInterruption) {
  const std::vector<double> losses = {0.1, 0.15, 0.05, 0.2, 0.25, 0.3, 0.35, 0.4, 0.02, 0.45, 0.5, 0.55};
  const std::vector<std::string> whole = PausedTrials(losses).RunToEnd();
  ASSERT_GT(whole.size(), losses.size() + 3) << "some continue";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    PausedTrials first(losses);
    std::vector<std::string> runs;
    for (std::size_t i = 0; i < cut; ++i) runs.push_back(first.RunNext());
    PausedTrials second(losses, first.entries);
    second.steps = first.steps;
    for (const std::string& run : second.RunToEnd()) runs.push_back(run);
    EXPECT_EQ(runs, whole) << cut;
    EXPECT_TRUE(second.scheduler->complete());
  }
}

TEST(TrialScheduler, PromotesRepeatedPointsAsAWholeAndTheSameAfterAnyInterruption) {
  const std::vector<double> losses = {0.5, 0.2, 0.9, 0.1, 0.3, 0.8};
  for (const bool race : {false, true}) {
    const SeedsChoice seeds{.count = 2, .race = race};
    PausedTrials uncut(losses, {}, seeds);
    const std::vector<std::string> whole = uncut.RunToEnd();
    EXPECT_TRUE(uncut.scheduler->complete());
    ASSERT_GT(whole.size(), 12U) << "some continue";
    // Repetitions of a point have come equally far, or are on their way to where another one continued.
    const SweepProgress& progress = uncut.scheduler->progress();
    std::map<std::uint64_t, std::set<int>> reached;
    for (const auto& [trial, step] : uncut.steps) reached[progress.GroupOf(trial)].insert(step);
    for (const auto& [group, steps] : reached) EXPECT_EQ(steps.size(), 1U) << group << (race ? " in a race" : "");
    EXPECT_EQ(*progress.best()->point.at("x").AsInt(), 3);
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
      PausedTrials first(losses, {}, seeds);
      std::vector<std::string> runs;
      for (std::size_t i = 0; i < cut; ++i) runs.push_back(first.RunNext());
      PausedTrials second(losses, first.entries, seeds);
      second.steps = first.steps;
      for (const std::string& run : second.RunToEnd()) runs.push_back(run);
      EXPECT_EQ(runs, whole) << cut;
      EXPECT_TRUE(second.scheduler->complete());
    }
  }
}

TEST(TrialScheduler, KeepsTheResultOfAPausedTrialWhoseNextAttemptFails) {
  PausedTrials paused({0.5, 0.9});
  paused.RunNext();
  paused.RunNext();
  EXPECT_TRUE(paused.scheduler->progress().open().contains(0)) << "it continues";
  ASSERT_EQ(paused.Start(), std::vector<TrialNumber>{0});
  paused.End(0, TrialClass::kCrash);
  EXPECT_TRUE(paused.scheduler->complete());
  EXPECT_EQ(paused.scheduler->progress().count(TrialClass::kStopped), 2U);
  EXPECT_EQ(paused.scheduler->progress().failed(), 0U);
}

TEST(TrialScheduler, PromotesNoTrialThatIsRetriedAsAWhole) {
  PausedTrials paused({0.5, 0.9});
  paused.RunNext();
  paused.RunNext();
  ASSERT_TRUE(std::holds_alternative<TrialPromoted>(paused.entries.back()));
  paused.entries.pop_back();  // the head was killed before
  const auto promotes = [&](std::vector<TrialRange> reopened) {
    ScheduledSweep again(2, PausedTrials::Promoting(), {{"", 0, 1}}, ProgressOf(paused.entries));
    SweepBegan began;
    began.trials = 2;
    again.scheduler->ResumeFrom(
        began, [](TrialNumber, const OpenTrial&) { return std::nullopt; }, std::move(reopened));
    return std::holds_alternative<TrialPromoted>(again.entries.back());
  };
  EXPECT_TRUE(promotes({}));
  EXPECT_FALSE(promotes({{0, 1}}));
}

TEST(TrialScheduler, CountsNanAsDivergence) {
  SweepDescription sweep;
  sweep.objective = Objective{"loss"};
  ScheduledSweep scheduled(1, sweep);
  scheduled.ResumeFrom();
  scheduled.Judge();
  scheduled.Start();
  const auto outcome = scheduled.scheduler->running().Reported(0, {{"loss", Value(std::nan(""))}});
  EXPECT_TRUE(outcome.stop);
  EXPECT_TRUE(scheduled.scheduler->running().progress(0)->diverged());
}

TEST(TrialScheduler, SaysWhenAsManyTrialsFailedAlikeAsAreAllowed) {
  SweepDescription with;
  with.stop_after.failures = 3;
  ScheduledSweep sweep(12, with, {{"", 0, 12}});
  sweep.ResumeFrom();
  sweep.Judge();
  ASSERT_EQ(sweep.Start().size(), 12U);
  TrialNumber next = 0;
  const auto fail = [&](TrialClass trial_class, const std::string& why) {
    TrialScheduler::AttemptEnd end;
    end.trial_class = trial_class;
    end.why = why;
    sweep.scheduler->Ended(next++, std::move(end));
    return sweep.scheduler->failed_alike();
  };
  EXPECT_EQ(fail(TrialClass::kOomDevice, "worker.0 exited with code 7"), "");
  EXPECT_EQ(fail(TrialClass::kOomDevice, "worker.1 exited with code 7"), "");
  sweep.End(next++);
  EXPECT_EQ(fail(TrialClass::kOomDevice, "worker.0 exited with code 7"), "") << "one has a result since";
  EXPECT_EQ(fail(TrialClass::kCrash, "worker.0 exited with code 7"), "");
  EXPECT_EQ(fail(TrialClass::kOomDevice, "worker.0 exited with code 9"), "");
  EXPECT_EQ(fail(TrialClass::kCrash, "another reason"), "");
  EXPECT_EQ(fail(TrialClass::kOomDevice, "worker.2 exited with code 7"),
            "3 trials failed alike, none has a result: oom_device: worker.2 exited with code 7");
}

TEST(TrialScheduler, CountsTrialsThatFailedAlikeUnderAHeadThatDied) {
  SweepDescription with;
  with.stop_after.failures = 3;
  with.retry.quarantine_host_after = 0;
  ScheduledSweep before(12, with, {{"", 0, 2}});
  before.ResumeFrom();
  before.Judge();
  for (const TrialNumber trial : before.Start()) before.End(trial, TrialClass::kCrash);
  ASSERT_EQ(before.scheduler->failed_alike(), "");
  for (const bool ended : {false, true}) {
    std::vector<SweepEntry> entries = before.entries;
    if (ended) entries.emplace_back(SweepEnded{false, "ctrl-c", 130});
    ScheduledSweep after(12, with, {{"", 0, 2}}, ProgressOf(entries), {}, {}, entries);
    after.ResumeFrom();
    after.Judge();
    ASSERT_EQ(after.Start().front(), 2U);
    after.End(2, TrialClass::kCrash);
    EXPECT_EQ(after.scheduler->failed_alike(), ended ? "" : "3 trials failed alike, none has a result: crash");
  }
}

}  // namespace
}  // namespace muster
