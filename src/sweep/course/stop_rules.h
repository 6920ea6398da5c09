// Early stopping over all attempts of a sweep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "space/sweep_description.h"
#include "sweep/course/asha.h"
#include "sweep/course/median_rule.h"
#include "sweep/course/trial_progress.h"
#include "sweep/record/sweep_account.h"
#include "sweep/record/sweep_events.h"

namespace muster {

class StopRules {
 public:
  // With what earlier heads of the sweep were told, in the same order: the same decisions follow.
  StopRules(const SweepDescription& sweep, const SweepAccount& account);

  // What a report leads to: entries for the journal, in order, and whether the attempt is to be stopped.
  struct Outcome {
    std::vector<SweepEntry> entries;
    bool stop = false;
    std::string why;  // "rung 2 of 4: rank 9 of 12, the best 3 go on"; only with `stop`
  };
  Outcome Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress, const MetricReport& report);
  // For an attempt that goes on from a checkpoint: what earlier ones reported counts for it until it reports itself,
  // and the first `rungs` rungs, which they passed, are not decided about again. Values that are not finite are left
  // out.
  void GoOn(TrialProgress& progress, std::uint64_t rungs) const { progress.next_rung_ = rungs; }
  void Recall(TrialProgress& progress, const MetricReport& report) const;
  // An attempt has ended well.
  void Finished(TrialNumber trial, const TrialProgress& progress);

 private:
  // Notes the values of a report; false if its objective is no finite number.
  bool Note(TrialProgress& progress, const MetricReport& report) const;

  std::optional<Objective> objective_;
  std::optional<EarlyStopChoice> choice_;
  std::optional<Asha> asha_;
  std::optional<MedianRule> median_;
};

}  // namespace muster
