// A scheduler of a small sweep, without processes, journal and clock, whose tests play the head.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "space/space.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

inline Space Values(std::int64_t points) {
  Space values{.kind = Space::Kind::kAxis, .axis = {.name = "x"}};
  for (std::int64_t x = 0; x < points; ++x) values.axis.values.emplace_back(x);
  return values;
}

// A sweep over x = 0, 1, …, n - 1 whose scheduler writes into `entries`.
class ScheduledSweep {
 public:
  explicit ScheduledSweep(std::int64_t points, SweepDescription with = {}, std::vector<PoolHost> hosts = {{"", 0, 2}},
                          SweepProgress progress = {}, std::optional<Space> of = {},
                          const std::function<std::unique_ptr<Sampler>(const CompiledSpace&)>& sampled = {},
                          const std::vector<SweepEntry>& known = {})
      : sweep(std::move(with)) {
    sweep.space = of ? *std::move(of) : Values(points);
    space.emplace(*CompiledSpace::Of(sweep.space));
    sampler = sampled ? sampled(*space) : *Sampler::Of(*space, sweep.sampler);
    trial_points.emplace(*sampler, sweep);
    for (const SweepEntry& entry : known) trial_points->Take(entry);
    scheduler.emplace(sweep, *trial_points, std::move(progress),
                      HostPool(std::move(hosts), sweep.budget.slots, sweep.budget.devices),
                      [this](const SweepEntry& entry) {
                        if (full) return false;
                        entries.push_back(entry);
                        return true;
                      });
    scheduler->RecallBy(
        [this, known](const auto& take) {
          for (const SweepEntry& entry : known) take(entry);
          for (const SweepEntry& entry : entries) take(entry);
        },
        [this](const AttemptBegan& attempt) -> std::optional<FailureJudged> {
          const auto found = failures.find({attempt.trial, attempt.attempt});
          return found == failures.end() ? std::nullopt : std::optional(found->second);
        });
  }

  void ResumeFrom(bool all_hosts = false) {
    SweepBegan began;
    began.all_hosts = all_hosts;
    began.trials = trial_points->size();
    if (const auto& seeds = sweep.sampler.seeds) began.seeds = {seeds->param, seeds->count, seeds->median};
    scheduler->ResumeFrom(began, [](TrialNumber, const OpenTrial&) { return std::nullopt; });
  }
  // Evaluates all pending trials; those in `impossible` are impossible.
  void Judge(const std::vector<TrialRange>& impossible = {}) {
    while (const auto batch = scheduler->planning().NextToJudge()) {
      PointsJudged judged{batch->first, batch->points.size(), {}};
      if (!impossible.empty()) judged.impossible.push_back({"it cannot be", "r.lua:3", impossible});
      scheduler->planning().Judged(judged);
    }
  }
  // Plans and starts as many trials as possible; returns the started ones.
  std::vector<TrialNumber> Start(const TrialNeeds& needs = {{0, 1}}) {
    while (const auto trial = scheduler->planning().NextToPlan()) {
      EXPECT_TRUE(scheduler->planning().Planned(*trial, "plan of " + std::to_string(*trial), needs));
    }
    std::vector<TrialNumber> started;
    while (const auto start = scheduler->NextStart()) {
      AttemptBegan began;
      began.trial = start->trial;
      began.attempt = scheduler->NextAttempt(start->trial);
      began.point = trial_points->At(start->trial);
      began.id = PointId(began.point);
      began.plan = "plan of " + std::to_string(start->trial);
      for (const std::uint32_t host : start->hosts) {
        const std::string& name = scheduler->pool().hosts()[host].name;
        if (!name.empty()) began.hosts.push_back(name);
      }
      EXPECT_TRUE(scheduler->Began(began));
      started.push_back(start->trial);
    }
    return started;
  }
  void End(TrialNumber trial, TrialClass trial_class = TrialClass::kOk, std::string blamed = {},
           std::optional<double> loss = {}) {
    TrialScheduler::AttemptEnd end;
    end.trial_class = trial_class;
    end.blamed = std::move(blamed);
    end.loss = loss;
    scheduler->Ended(trial, std::move(end));
  }
  // Runs everything to its end, in rounds; returns how often each trial succeeded.
  std::map<TrialNumber, int> RunAll() {
    std::map<TrialNumber, int> ends;
    while (!scheduler->over()) {
      Judge();
      const auto started = Start();
      if (started.empty() && !scheduler->over()) {
        ADD_FAILURE() << "it does not go on";
        break;
      }
      for (const TrialNumber trial : started) {
        End(trial);
        ++ends[trial];
      }
    }
    return ends;
  }

  SweepDescription sweep;
  std::optional<CompiledSpace> space;
  std::unique_ptr<Sampler> sampler;
  std::optional<TrialPoints> trial_points;
  std::vector<SweepEntry> entries;
  std::map<std::pair<TrialNumber, std::uint32_t>, FailureJudged> failures;  // in the journals of attempts' runs
  bool full = false;
  std::optional<TrialScheduler> scheduler;
};

inline SweepProgress ProgressOf(const std::vector<SweepEntry>& entries) {
  SweepProgress progress;
  for (const SweepEntry& entry : entries) progress.Take(entry);
  return progress;
}

}  // namespace muster
