// Tests simulated lives of jobs against closed forms: restarts after exponential failures, hosts that are up or down,
// the best interval between checkpoints.
#include "run/simulate/job_simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/simulate/run_advice.h"

namespace muster {
namespace {

constexpr double kAnHour = 3'600;
constexpr double kADay = 24 * kAnHour;

Plan Training(std::uint32_t hosts, std::uint32_t restarts = 1'000'000) {
  Plan plan = SamplePlan({{"worker", hosts}}, hosts);
  plan.roles[0].restart.max = restarts;
  plan.roles[0].restart.scope = RestartPolicy::Scope::kJob;
  plan.roles[0].restart.backoff_ms = 0;
  return plan;
}

double Total(const SimulatedLife& life) { return std::accumulate(life.seconds.begin(), life.seconds.end(), 0.0); }

SimulatedLife Live(const Plan& plan, const std::vector<SimulatedFailure>& failures, const SimulatedTerms& terms) {
  const SimulatedLife life = SimulateLife(plan, failures, terms, DefaultVerdictRules());
  EXPECT_NEAR(Total(life), terms.horizon_s, 1e-6 * terms.horizon_s) << "the rows add up";
  return life;
}

TEST(SimulatedLife, AddsUpByHand) {
  // Starts for 10 s, works for 100 s and saves for 5 s: at 250 s two checkpoints (10 to 220) and 30 s of lost work.
  const SimulatedTerms terms{
      .horizon_s = 400, .interval_s = 100, .save_s = 5, .start_s = 10, .queue_s = 0, .spares = 0};
  const SimulatedLife life = Live(Training(2), {{250, 1, 0}}, terms);
  EXPECT_NEAR(life.Of(SimulatedRow::kStart), 20, 1e-6);
  EXPECT_NEAR(life.Of(SimulatedRow::kLost), 30, 1e-6);
  EXPECT_NEAR(life.Of(SimulatedRow::kCheckpoint), 15, 1e-6);
  EXPECT_NEAR(life.Of(SimulatedRow::kKept), 335, 1e-6);
  EXPECT_EQ(life.runs, 1U);
  EXPECT_EQ(life.failures, 1U);
}

TEST(SimulatedLife, GoesOnWhenAHostWithoutProcessesFails) {
  Plan plan = Training(2);
  plan.processes.pop_back();  // of host 1
  const SimulatedTerms terms{
      .horizon_s = 400, .interval_s = 100, .save_s = 5, .start_s = 10, .queue_s = 0, .spares = 0};
  const SimulatedLife life = Live(plan, {{150, 1, 0}, {250, 1, 0}}, terms);
  EXPECT_NEAR(life.Of(SimulatedRow::kStart), 10, 1e-6);
  EXPECT_NEAR(life.Of(SimulatedRow::kLost), 0, 1e-6);
  EXPECT_EQ(life.failures, 0U);
  const SimulatedTerms with_spares{
      .horizon_s = 400, .interval_s = 100, .save_s = 5, .start_s = 10, .queue_s = 0, .spares = 1};
  const SimulatedLife lost = Live(plan, {{150, 1, 60}, {250, 0, 60}}, with_spares);
  for (const double seconds : lost.seconds) EXPECT_GE(seconds, 0);
}

TEST(SimulatedLife, WaitsForItsHostsWithoutSpares) {
  const SimulatedTerms terms{
      .horizon_s = 400, .interval_s = 100, .save_s = 0, .start_s = 10, .queue_s = 20, .spares = 0};
  const SimulatedLife life = Live(Training(2), {{210, 1, 50}}, terms);
  EXPECT_NEAR(life.Of(SimulatedRow::kWaiting), 50, 1e-6);
  EXPECT_EQ(life.runs, 2U);
  const SimulatedLife soon = Live(Training(2), {{210, 1, 5}}, terms);
  EXPECT_NEAR(soon.Of(SimulatedRow::kWaiting), 20, 1e-6) << "the queue takes longer";
}

TEST(SimulatedLife, ContinuesOnSpares) {
  SimulatedTerms terms{.horizon_s = 400, .interval_s = 100, .save_s = 0, .start_s = 10, .queue_s = 20, .spares = 1};
  const SimulatedLife life = Live(Training(2), {{210, 1, 500}}, terms);
  EXPECT_EQ(life.Of(SimulatedRow::kWaiting), 0);
  EXPECT_EQ(life.runs, 1U);
  EXPECT_EQ(life.replaced, 1U);
  // Both failures of the same host in a row: the verdict excludes it.
  Plan plan = Training(2);
  plan.roles[0].restart.verdict = true;
  EXPECT_EQ(Live(plan, {{100, 1, 0}, {250, 1, 0}}, terms).replaced, 1U);
  EXPECT_EQ(Live(Training(2), {{100, 1, 0}, {250, 1, 0}}, terms).replaced, 0U);
}

TEST(SimulatedLife, EndsRunsWhoseRestartsAreUsedUp) {
  const SimulatedTerms terms{
      .horizon_s = 400, .interval_s = 100, .save_s = 0, .start_s = 10, .queue_s = 20, .spares = 0};
  const SimulatedLife life = Live(Training(2, 1), {{100, 1, 0}, {250, 0, 0}}, terms);
  EXPECT_EQ(life.runs, 2U);
  EXPECT_NEAR(life.Of(SimulatedRow::kWaiting), 20, 1e-6);
}

// Failures are exponential, also during starts and saves: the chain of segments has Daly's expected length.
TEST(SimulatedLife, KeepsWhatTheMarkovChainOfItsSegmentsKeeps) {
  for (const double mean : {3 * kAnHour, 8 * kAnHour}) {
    const SimulatedTerms terms{.horizon_s = 60'000 * kAnHour,
                               .interval_s = kAnHour / 2,
                               .save_s = 60,
                               .start_s = 300,
                               .queue_s = 0,
                               .spares = 0};
    const auto failures = DrawFailures({.mean_s = 4 * mean, .shape = 1, .down_s = 0}, 4, terms.horizon_s, 7);
    const SimulatedLife life = Live(Training(4), failures, terms);
    const double expected = KeptShare(terms.interval_s, terms.save_s, terms.start_s, mean);
    EXPECT_NEAR(life.Of(SimulatedRow::kKept) / terms.horizon_s, expected, 0.01 * expected);
  }
}

// Each of four hosts is up for 30 h and down for 2 h, on average: all are up for (30/32)^4 of the time.
TEST(SimulatedLife, WaitsAsLongAsTheMarkovChainOfItsHostsIsNotUp) {
  const SimulatedTerms terms{
      .horizon_s = 200'000 * kAnHour, .interval_s = 60, .save_s = 0, .start_s = 0, .queue_s = 0, .spares = 0};
  const auto failures =
      DrawFailures({.mean_s = 30 * kAnHour, .shape = 1, .down_s = 2 * kAnHour}, 4, terms.horizon_s, 11);
  const SimulatedLife life = Live(Training(4), failures, terms);
  const double up = std::pow(30.0 / 32, 4);
  EXPECT_NEAR(1 - life.Of(SimulatedRow::kWaiting) / terms.horizon_s, up, 0.01 * up);
}

TEST(BestInterval, IsThatOfTheSimulation) {
  constexpr double kSave = 60;
  constexpr double kMean = 6 * kAnHour;
  const double young = std::sqrt(2 * kSave * kMean);
  EXPECT_NEAR(BestInterval(kSave, kMean), young, 0.05 * young);
  // The share that is kept over the logarithm of the interval, against the same failures; its maximum by least squares
  // of a parabola.
  const double horizon = 400'000 * kAnHour;
  const auto failures = DrawFailures({.mean_s = kMean, .shape = 1, .down_s = 0}, 1, horizon, 3);
  const Plan plan = Training(1);
  double s0 = 0, s2 = 0, s4 = 0, y0 = 0, y1 = 0, y2 = 0;
  for (int i = -8; i <= 8; ++i) {
    const double x = i / 8.0 * 0.4;
    const SimulatedTerms terms{.horizon_s = horizon,
                               .interval_s = young * std::exp(x),
                               .save_s = kSave,
                               .start_s = 300,
                               .queue_s = 0,
                               .spares = 0};
    const double kept = Live(plan, failures, terms).Of(SimulatedRow::kKept) / horizon;
    s0 += 1, s2 += x * x, s4 += x * x * x * x;
    y0 += kept, y1 += kept * x, y2 += kept * x * x;
  }
  const double linear = y1 / s2;
  const double square = (s0 * y2 - s2 * y0) / (s0 * s4 - s2 * s2);
  ASSERT_LT(square, 0);
  EXPECT_NEAR(young * std::exp(-linear / (2 * square)), young, 0.05 * young);
}

TEST(DrawFailures, HaveTheGivenMeanForEveryShape) {
  for (const double shape : {0.7, 1.0, 1.5}) {
    const double horizon = 10'000 * kADay;
    const auto failures = DrawFailures({.mean_s = 10 * kADay, .shape = shape, .down_s = kAnHour}, 10, horizon, 5);
    const double mean = 10 * horizon / static_cast<double>(failures.size());
    EXPECT_NEAR(mean, 10 * kADay + kAnHour, 0.04 * 10 * kADay) << shape;
    EXPECT_TRUE(
        std::is_sorted(failures.begin(), failures.end(), [](const auto& a, const auto& b) { return a.at < b.at; }));
    EXPECT_EQ(failures, DrawFailures({.mean_s = 10 * kADay, .shape = shape, .down_s = kAnHour}, 10, horizon, 5));
  }
}

// A checkpoint of a minute every four hours, with a failure every three: Young's interval is 19 min.
TEST(CheckpointAdvice, IsGivenIfItWouldGainMoreThanTwoPercent) {
  std::vector<SavedCheckpoint> saved;
  for (int i = 1; i <= 4; ++i) saved.push_back({i * 4 * kAnHour, i * 4 * kAnHour + 60});
  const HostFailures remembered{.hosts = 33, .seconds = 1'000 * kAnHour, .failures = 10, .lost = 0};
  const auto advice = AdviseInterval(saved, 300, remembered, 33);
  ASSERT_TRUE(advice);
  EXPECT_NEAR(advice->interval_s, 4 * kAnHour - 60, 1);
  EXPECT_NEAR(advice->best_s, std::sqrt(2 * 60 * advice->between_failures_s), 60);
  EXPECT_GT(advice->gain, 0.5);
  EXPECT_TRUE(AdviceText(*advice).starts_with("a checkpoint every 18 min")) << AdviceText(*advice);
  EXPECT_FALSE(AdviseInterval(saved, 300, {33, 1'000 * kAnHour, 0, 0}, 33)) << "nothing has failed";
  EXPECT_FALSE(AdviseInterval(std::span(saved).first(2), 300, remembered, 33));
  for (SavedCheckpoint& each : saved) each.from /= 12, each.to = each.from + 60;
  EXPECT_FALSE(AdviseInterval(saved, 300, remembered, 33)) << "every 20 min is nearly the best";
}

// 32 hosts lose one every 30 h, and then wait for 10 h: 75 % of the time is useful, with a spare 85.7 % · 32/33.
TEST(SparesAdvice, IsGivenIfTheQueueCostsMoreThanTheSpares) {
  const HostFailures remembered{.hosts = 32, .seconds = 32 * 300 * kAnHour, .failures = 20, .lost = 10};
  const auto advice = AdviseSpares(10 * kAnHour, remembered, 32, 0);
  ASSERT_TRUE(advice);
  EXPECT_NEAR(advice->between_lost_s, 30 * kAnHour, 1);
  const auto useful = [](double spares) { return 30 * (spares + 1) / (30 * (spares + 1) + 10) * 32 / (32 + spares); };
  EXPECT_EQ(advice->spares, 2U);
  EXPECT_NEAR(advice->gain, useful(2) / useful(0) - 1, 1e-9);
  EXPECT_EQ(
      AdviceText(*advice),
      "2 spare hosts would keep 12.9 % more for each host: the job waited 10 h 0 min in the queue, and loses a host "
      "every 1 d 6 h");
  const auto more = AdviseSpares(100 * kAnHour, remembered, 32, 2);
  ASSERT_TRUE(more);
  EXPECT_TRUE(AdviceText(*more).find(" more spare host") != std::string::npos) << AdviceText(*more);
  EXPECT_FALSE(AdviseSpares(kAnHour, remembered, 32, 0)) << "a spare costs more than the queue";
  EXPECT_FALSE(AdviseSpares(10 * kAnHour, {32, 1e9, 20, 0}, 32, 0)) << "no host was lost";
  EXPECT_FALSE(AdviseSpares(0, remembered, 32, 0)) << "not submitted";
}

}  // namespace
}  // namespace muster
