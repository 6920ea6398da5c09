// Generates a journal as a head would write it, of trials with random outcomes: some fail and are retried, some are
// stopped, some lose their head.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/values/fingerprint.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

inline Point MadePoint(TrialNumber trial) {
  return {{"lr", 0.5 / static_cast<double>(trial + 1)},
          {"workers", static_cast<std::int64_t>(1 + trial % 4)},
          {"optimizer", trial % 2 == 0 ? "adam" : "sgd"}};
}

inline std::vector<SweepEntry> MadeSweep(unsigned seed, TrialNumber trials) {
  std::mt19937 random(seed);
  std::vector<SweepEntry> entries = {
      SweepBegan{"5e11ab1e0001", "made", trials, 4711, 77, "b007", "0.9.0", "recipe", false}};
  PointsJudged judged;
  judged.count = trials;
  for (TrialNumber trial = 3; trial < trials; trial += 7) {
    if (judged.impossible.empty()) judged.impossible.push_back({"workers = 4 does not divide 6", "gpt.lua:26", {}});
    judged.impossible.front().trials.emplace_back(trial, trial);
  }
  entries.emplace_back(judged);
  for (TrialNumber trial = 0; trial < trials; ++trial) {
    if (trial >= 3 && trial % 7 == 3) continue;
    for (std::uint32_t attempt = 0;; ++attempt) {
      const Point point = MadePoint(trial);
      entries.emplace_back(
          AttemptBegan{trial,
                       attempt,
                       PointId(point),
                       point,
                       std::string(64, 'a'),
                       "run" + std::to_string(trial),
                       {trial % 3 == 0 ? "n1" : "n2"},
                       attempt > 0 && trial % 2 == 0
                           ? ResumedFrom{attempt - 1, "/s/" + TrialFolder(PointId(point), attempt - 1) + "/step_1"}
                           : ResumedFrom{}});
      AttemptEnded ended;
      ended.trial = trial;
      ended.attempt = attempt;
      ended.ms = 1000 + random() % 1000;
      const auto fate = random() % 10;
      if (fate < 6) {
        ended.loss = static_cast<double>(random() % 1000) / 1000;
        ended.metrics = {{"loss", *ended.loss}, {"step", std::int64_t{100}}};
      } else if (fate == 6) {
        entries.emplace_back(RungReached{trial, attempt, 4, 0.9, {0, 5, 5, 1, true}});
        ended.trial_class = TrialClass::kStopped;
        ended.loss = 0.9;
      } else {
        ended.trial_class = fate == 7 ? TrialClass::kHostLost : TrialClass::kCrash;
        ended.why = "worker.0 exited with code 7";
        ended.interrupted = fate == 9;
        ended.again = attempt < 2;
        ended.counted = fate != 7;
        if (fate == 7) ended.blamed = "n1";
      }
      const bool again = ended.again || ended.interrupted;
      entries.emplace_back(ended);
      if (fate == 7 && trial % 5 == 0) entries.emplace_back(HostQuarantined{"n1", "2 failures in a row"});
      if (!again) break;
    }
    if (trial % 17 == 16) {
      entries.emplace_back(SweepEnded{false, "ctrl-c", 130});
      entries.emplace_back(SweepBegan{"5e11ab1e0001", "made", trials, 4712, 78, "b007", "0.9.0", "recipe", false});
      if (trial % 2 == 0) entries.emplace_back(TrialsReopened{{{trial - 2, trial}}});
    }
  }
  return entries;
}

}  // namespace muster
