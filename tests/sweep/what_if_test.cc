// Tests that replaying recorded reports with a rule agrees with running the sweep with that rule: trials are simulated,
// the scheduler and its rules are the real ones.
#include "sweep/scheduler/what_if.h"

#include <cmath>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "space/sampler.h"
#include "sweep/scheduled_sweep.h"

namespace muster {
namespace {

// Curves that cross: some begin well and end badly. Seeds add a little.
double LossOf(const Point& point, int step) {
  const auto number = static_cast<double>(*point.at("x").AsInt());
  const double x = std::fmod(number * 37, 101) / 101;
  const auto seed = point.find("seed");
  const double noise =
      seed == point.end() ? 0 : 0.3 * std::sin(number * 3 + 5.0 * static_cast<double>(*seed->second.AsInt()));
  return x + noise + (1 - x) * 2 / std::sqrt(step) + 0.05 * std::sin(number * 7 + step);
}
constexpr int kSteps = 27;
double MsOf(const Point& point, int step) {
  const auto seed = point.find("seed");
  const std::int64_t number = *point.at("x").AsInt() + (seed == point.end() ? 0 : 3 * *seed->second.AsInt());
  return step * (10 + static_cast<double>(number % 7));
}

struct SimulatedRun {
  std::vector<RecordedTrial> trials;      // in the order in which they began
  std::vector<Point> points;              // of these
  std::map<std::string, double> stopped;  // points, with the resource at which they were
  std::set<std::string> begun;            // points
  double ms = 0;
};

// Runs so many points, as many trials at a time as there are slots, in the time of a simulation.
SimulatedRun Simulate(const SweepDescription& with, std::int64_t points, std::uint32_t slots) {
  SimulatedRun made;
  std::optional<Space> space;
  if (with.sampler.seeds) space = WithSeeds(Values(points), *with.sampler.seeds);
  ScheduledSweep sweep(points, with, {{"", 0, slots}}, {}, space);
  sweep.ResumeFrom();
  using Event = std::tuple<double, std::size_t, int>;  // time, order of begin, step
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<double> began;
  const auto start = [&](double now) {
    sweep.Judge();
    for (const TrialNumber trial : sweep.Start()) {
      const Point point = sweep.trial_points->At(trial);
      events.emplace(now + MsOf(point, 1), made.trials.size(), 1);
      made.points.push_back(point);
      made.begun.insert(PointText(point));
      RecordedTrial& begun = made.trials.emplace_back(RecordedTrial{.trial = trial});
      if (with.sampler.seeds) begun.group = sweep.scheduler->progress().GroupOf(trial);
      began.push_back(now);
    }
  };
  start(0);
  while (!events.empty()) {
    const auto [now, order, step] = events.top();
    events.pop();
    made.ms = std::max(made.ms, now);
    RecordedTrial& trial = made.trials[order];
    const Point& point = made.points[order];
    if (step > kSteps) {
      trial.ms = now - began[order];
      trial.loss = trial.reports.back().loss;
      sweep.End(trial.trial, TrialClass::kOk, {}, trial.loss);
      start(now);
      continue;
    }
    const double loss = LossOf(point, step);
    trial.reports.push_back({now - began[order], static_cast<double>(step), loss});
    const auto outcome = sweep.scheduler->running().Reported(trial.trial, {{"step", step}, {"loss", loss}});
    if (outcome.stop) {
      made.stopped[PointText(point)] = step;
      trial.trial_class = TrialClass::kStopped;
      trial.ms = now - began[order];
      sweep.End(trial.trial, TrialClass::kStopped, {}, loss);
      start(now);
    } else {
      events.emplace(began[order] + MsOf(point, step + 1), order, step + 1);
    }
  }
  return made;
}

SweepDescription With(std::optional<EarlyStopChoice> rule) {
  SweepDescription sweep;
  sweep.objective = {.metric = "loss"};
  sweep.early_stop = std::move(rule);
  return sweep;
}
EarlyStopChoice AshaOf(double eta) { return {.min = 1, .max = 27, .eta = eta}; }
EarlyStopChoice MedianOf(double warmup) { return {.kind = EarlyStopChoice::Kind::kMedian, .warmup = warmup}; }

TEST(WhatIf, AgreesWithRunningTheSweepWithThatRule) {
  for (const std::uint32_t slots : {1U, 4U, 16U}) {
    const SimulatedRun recorded = Simulate(With({}), 60, slots);
    ASSERT_EQ(recorded.trials.size(), 60U);
    for (const EarlyStopChoice& rule : {AshaOf(2), AshaOf(3), AshaOf(4), MedianOf(1), MedianOf(9)}) {
      const SimulatedRun real = Simulate(With(rule), 60, slots);
      const WhatIf thought = ReplayWithRule(With(rule), recorded.trials, slots);
      std::map<std::string, double> stopped;
      for (std::size_t i = 0; i < thought.trials.size(); ++i) {
        if (thought.trials[i].stopped) stopped[PointText(recorded.points[i])] = thought.trials[i].resource;
      }
      EXPECT_EQ(stopped, real.stopped) << slots;
      EXPECT_GT(thought.stopped, 5U);
      EXPECT_LT(thought.stopped, 60U);
      EXPECT_DOUBLE_EQ(thought.ms, real.ms);
      EXPECT_DOUBLE_EQ(thought.ms_before, recorded.ms);
      EXPECT_EQ(thought.unknown, 0U);
      double resource = 0;
      for (const RecordedTrial& trial : real.trials) resource += trial.reports.back().resource;
      EXPECT_DOUBLE_EQ(thought.resource, resource);
    }
  }
}

TEST(WhatIf, AgreesForRepeatedPoints) {
  const auto repeated = [](std::optional<EarlyStopChoice> rule, bool median) {
    SweepDescription sweep = With(std::move(rule));
    sweep.sampler.seeds = SeedsChoice{.count = 3, .median = median, .race = false};
    return sweep;
  };
  const EarlyStopChoice hyperband{.kind = EarlyStopChoice::Kind::kHyperband, .min = 1, .max = 27, .eta = 3};
  for (const std::uint32_t slots : {1U, 4U}) {
    for (const bool median : {false, true}) {
      const SimulatedRun recorded = Simulate(repeated({}, median), 30, slots);
      ASSERT_EQ(recorded.trials.size(), 90U);
      for (const EarlyStopChoice& rule : {AshaOf(2), AshaOf(3), hyperband, MedianOf(1)}) {
        const SimulatedRun real = Simulate(repeated(rule, median), 30, slots);
        const WhatIf thought = ReplayWithRule(repeated(rule, median), recorded.trials, slots);
        std::map<std::string, double> stopped;
        std::set<std::string> begun;
        for (std::size_t i = 0; i < thought.trials.size(); ++i) {
          const std::string point = PointText(recorded.points[i]);
          if (thought.trials[i].stopped) stopped[point] = thought.trials[i].resource;
          if (!thought.trials[i].left_out) begun.insert(point);
        }
        EXPECT_EQ(stopped, real.stopped) << slots;
        EXPECT_EQ(begun, real.begun) << slots;
        EXPECT_EQ(thought.left_out, 90 - real.begun.size());
        EXPECT_GT(thought.left_out, 5U);
        EXPECT_DOUBLE_EQ(thought.ms, real.ms);
        double resource = 0;
        for (const RecordedTrial& trial : real.trials) resource += trial.reports.back().resource;
        EXPECT_DOUBLE_EQ(thought.resource, resource);
      }
    }
  }
}

TEST(WhatIf, NamesTheBestTrialOfTheBestPointWithAllRepetitions) {
  SweepDescription sweep = With(EarlyStopChoice{.min = 1, .max = 2, .eta = 2});
  sweep.sampler.seeds = SeedsChoice{.count = 2};
  std::vector<RecordedTrial> trials;
  for (const auto& [group, loss] : {std::pair(0U, 0.1), std::pair(0U, 9.0), std::pair(1U, 2.0), std::pair(1U, 1.0)}) {
    trials.push_back({.trial = trials.size(), .reports = {{1, 1, 1}}, .ms = 5, .loss = loss, .group = group});
  }
  EXPECT_EQ(ReplayWithRule(sweep, trials, 1).best_before, 3U) << "1.5 on average, not 4.55";
}

TEST(WhatIf, InventsNothingBeyondTheEndOfATrialThatWasStopped) {
  const SimulatedRun recorded = Simulate(With(AshaOf(3)), 60, 4);
  const WhatIf gentler = ReplayWithRule(With(EarlyStopChoice{.min = 9, .max = 27, .eta = 2}), recorded.trials, 4);
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < gentler.trials.size(); ++i) {
    const RecordedTrial& was = recorded.trials[i];
    const WhatIfTrial& trial = gentler.trials[i];
    EXPECT_EQ(trial.trial, was.trial);
    if (was.trial_class != TrialClass::kStopped || trial.stopped) continue;
    ++unknown;
    EXPECT_TRUE(trial.unknown_beyond);
    EXPECT_EQ(trial.resource, was.reports.back().resource);
    EXPECT_NE(gentler.best, trial.trial);
  }
  EXPECT_GT(unknown, 10U);
  EXPECT_EQ(gentler.unknown, unknown);
}

TEST(WhatIf, SaysWhetherTheBestWouldHaveBeenFound) {
  const auto trial = [](TrialNumber number, std::vector<double> losses) {
    RecordedTrial made{.trial = number, .ms = 100, .devices = 2, .loss = losses.back()};
    for (const double loss : losses) {
      const double step = static_cast<double>(made.reports.size() + 1);
      made.reports.push_back({step, step, loss});
    }
    return made;
  };
  const EarlyStopChoice rule{.min = 1, .max = 2, .eta = 2};
  const std::vector<RecordedTrial> late = {trial(0, {1, 1}), trial(1, {2, 0.5})};
  const WhatIf missed = ReplayWithRule(With(rule), late, 1);
  EXPECT_EQ(missed.best_before, 1U);
  EXPECT_EQ(missed.best, 0U);
  EXPECT_EQ(missed.device_ms_before, 400);
  EXPECT_EQ(missed.device_ms, 202) << "two devices for 100 ms, and until the first report";
  EXPECT_EQ(missed.trials[1].why, "rung 1 of 2: rank 2 of 2, the best 1 continue");
}

}  // namespace
}  // namespace muster
