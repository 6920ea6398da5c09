// Early stopping rules over all attempts of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/asha.h"
#include "sweep/scheduler/median_rule.h"
#include "sweep/scheduler/trial_progress.h"

namespace muster {

class StopRules {
 public:
  // Replays the reports to earlier heads of the sweep in the same order, so the same decisions follow.
  StopRules(const SweepDescription& sweep, const SweepProgress& account);

  // The result of a report: entries for the journal, in order, and whether to stop the attempt.
  struct Outcome {
    std::vector<SweepEntry> entries;
    bool stop = false;
    std::string why;  // "rung 2 of 4: rank 9 of 12, the best 3 go on"; only if `stop`
  };
  Outcome Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress, const MetricReport& report);
  // For an attempt that resumes from a checkpoint: reports of earlier attempts count until it reports itself,
  // and the first `rungs` rungs, which they passed, are not decided again. Values that are not finite are
  // ignored.
  void Continue(TrialProgress& progress, std::uint64_t rungs) const { progress.next_rung_ = rungs; }
  void Recall(TrialProgress& progress, const MetricReport& report) const;
  // An attempt has succeeded.
  void Finished(TrialNumber trial, const TrialProgress& progress);

 private:
  // Stores the values of a report; false if its objective is not a finite number.
  bool Note(TrialProgress& progress, const MetricReport& report) const;

  std::optional<Objective> objective_;
  std::optional<EarlyStopChoice> choice_;
  std::optional<Asha> asha_;
  std::optional<MedianRule> median_;
};

}  // namespace muster
