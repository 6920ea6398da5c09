#include "sweep/scheduler/device_budget.h"

#include <gtest/gtest.h>

#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

constexpr std::uint64_t kHour = 3'600'000;

void EndTrial(DeviceBudget& budget, TrialNumber trial, std::uint32_t devices, std::uint64_t ms,
              TrialClass trial_class = TrialClass::kOk, std::optional<double> step = {}) {
  AttemptBegan began;
  began.trial = trial;
  began.devices = devices;
  budget.Take(began);
  AttemptEnded ended;
  ended.trial = trial;
  ended.ms = ms;
  ended.trial_class = trial_class;
  if (step) ended.metrics["step"] = Value(*step);
  budget.Take(ended);
}

TEST(DeviceBudget, ExpectsWhatTrialsWithResultsTook) {
  const SweepDescription sweep;
  DeviceBudget budget(sweep);
  EXPECT_EQ(budget.OfTrial({}), std::nullopt);
  EndTrial(budget, 0, 8, 100, TrialClass::kCrash);
  EXPECT_EQ(budget.OfTrial({}), 800);
  EndTrial(budget, 1, 8, kHour);
  EndTrial(budget, 2, 4, kHour);
  EndTrial(budget, 3, 0, kHour);
  EXPECT_EQ(budget.OfTrial({}), 4.0 * kHour) << "the median; without devices as one";
  EXPECT_EQ(budget.ToFirstRung({}), 4.0 * kHour) << "there is no rung before the end";
}

TEST(DeviceBudget, CountsAllAttemptsOfATrial) {
  const SweepDescription sweep;
  DeviceBudget budget(sweep);
  AttemptBegan began;
  began.devices = 2;
  AttemptEnded ended;
  ended.ms = 1000;
  ended.trial_class = TrialClass::kHostLost;
  ended.again = true;
  budget.Take(began);
  budget.Take(ended);
  EndTrial(budget, 0, 2, 500);
  EXPECT_EQ(budget.OfTrial({}), 3000);
}

TEST(DeviceBudget, FollowsTheTimeOfSteps) {
  SweepDescription sweep;
  sweep.early_stop = EarlyStopChoice{.resource = "step", .min = 100, .max = 1600, .eta = 4};
  DeviceBudget budget(sweep);
  EXPECT_EQ(budget.ToFirstRung({}), std::nullopt);
  EXPECT_EQ(budget.ToFirstRung({{5000, 50}}), 10'000) << "before any trial has come so far";
  EXPECT_EQ(budget.OfTrial({{5000, 50}}), 160'000) << "to the last rung";
  EXPECT_EQ(budget.ToFirstRung({{5000, {}}}), std::nullopt);
  EndTrial(budget, 0, 2, 5000, TrialClass::kStopped, 100);
  EndTrial(budget, 1, 2, 10'000, TrialClass::kStopped, 100);
  EndTrial(budget, 2, 2, 80'000, TrialClass::kOk, 1600);
  EXPECT_EQ(budget.ToFirstRung({}), 10'000);
  EXPECT_EQ(budget.OfTrial({}), 20'000);
}

TEST(DeviceBudget, StartsNoTrialThatCannotReachItsFirstRung) {
  SweepDescription sweep;
  sweep.early_stop = EarlyStopChoice{.resource = "step", .min = 100, .max = 1600, .eta = 4};
  DeviceBudget budget(sweep);
  EXPECT_EQ(budget.Refusal(1, 0, {}), "") << "nothing is known";
  EXPECT_EQ(budget.Refusal(1, kHour, {}), "the budget of 1 device hours: 1 are spent");
  EndTrial(budget, 0, 1, kHour / 2, TrialClass::kStopped, 100);
  EXPECT_EQ(budget.Refusal(1, 0.5 * kHour, {}), "");
  EXPECT_EQ(budget.Refusal(1, 0.6 * kHour, {}),
            "the budget of 1 device hours: 0.6 are spent, and a trial takes about 0.5 to its first rung");
  EXPECT_NE(budget.Refusal(1, 0.2 * kHour, {{0.05 * kHour, 10}}), "") << "the running one takes 0.5 in all";
  EXPECT_EQ(budget.Refusal(1.25, 0.2 * kHour, {{0.05 * kHour, 10}}), "");
}

// Each trial takes half an hour of two devices.
struct Budgeted : ScheduledSweep {
  explicit Budgeted(double hours, SweepProgress progress = {}, const std::vector<SweepEntry>& known = {})
      : ScheduledSweep(10, With(hours), {{"", 2, 8}}, std::move(progress), {}, {}, known) {
    DeviceBudget costs(sweep);
    for (const SweepEntry& entry : known) costs.Take(entry);
    scheduler->RecallCosts(std::move(costs));
    ResumeFrom();
  }
  static SweepDescription With(double hours) {
    SweepDescription with;
    with.budget.device_hours = hours;
    return with;
  }
  std::size_t Run() {
    std::size_t trials = 0;
    for (Judge();;) {
      const auto started = Start({{2, 1}});
      if (started.empty()) return trials;
      for (const TrialNumber trial : started) {
        TrialScheduler::AttemptEnd end;
        end.ms = kHour / 2;
        scheduler->Ended(trial, std::move(end));
        ++trials;
      }
    }
  }
};

TEST(DeviceBudget, EndsASweepAlsoAfterItWasResumed) {
  Budgeted sweep(4.5);
  EXPECT_EQ(sweep.Run(), 4U);
  EXPECT_EQ(sweep.scheduler->progress().device_ms(), 4 * kHour);
  EXPECT_EQ(sweep.scheduler->OverBudget(),
            "the budget of 4.5 device hours: 4 are spent, and a trial takes about 1 to its end");
  const auto began = std::find_if(sweep.entries.begin(), sweep.entries.end(),
                                  [](const auto& entry) { return std::holds_alternative<AttemptBegan>(entry); });
  ASSERT_NE(began, sweep.entries.end());
  EXPECT_EQ(std::get<AttemptBegan>(*began).devices, 2U);

  Budgeted again(4.5, ProgressOf(sweep.entries), sweep.entries);
  EXPECT_EQ(again.Run(), 0U);
  ASSERT_TRUE(again.scheduler->Steer({.device_hours = 6}));
  EXPECT_EQ(again.Run(), 2U);
  const DeviceHours hours = DeviceHoursOf(again.scheduler->progress(), again.sweep.budget);
  EXPECT_EQ(hours.limit, 6);
  EXPECT_EQ(hours.spent, 6);
  EXPECT_EQ(hours.forecast, 6);
}

TEST(DeviceBudget, CountsTheTimeOfRunningTrials) {
  Budgeted sweep(2.5);
  sweep.Judge();
  ASSERT_EQ(sweep.Start({{1, 1}}).size(), 2U);
  sweep.scheduler->SetRunTimes({{0, kHour}, {1, 2 * kHour}});
  EXPECT_EQ(sweep.scheduler->OverBudget(), "the budget of 2.5 device hours: 0 are spent");
  sweep.scheduler->SetRunTimes({{0, kHour}, {1, kHour}});
  EXPECT_EQ(sweep.scheduler->OverBudget(), "");
}

}  // namespace
}  // namespace muster
