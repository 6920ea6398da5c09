// One attempt as its reports show it: how far it is, how good, and whether it is to be stopped early. The rules that
// compare trials (sweep/early_stop.h) are shared by all attempts of a sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "muster/value.h"
#include "space/sweep_description.h"
#include "sweep/early_stop.h"
#include "sweep/sweep_account.h"
#include "sweep/sweep_events.h"

namespace muster {

// One report: numbers, truths and short texts by metric; null is a number that is not finite.
using MetricReport = std::map<std::string, Value>;

class TrialProgress {
 public:
  const MetricReport& metrics() const { return metrics_; }  // the last of each
  // The last value of the objective, negated if it is to be maximized. None: nothing finite was reported.
  const std::optional<double>& loss() const { return loss_; }
  // The last value of what early stopping counts by; nothing without a rule, or where it was never reported.
  const std::optional<double>& resource() const { return resource_; }
  const std::map<double, double>& losses() const { return losses_; }
  bool diverged() const { return diverged_; }

 private:
  friend class StopRules;
  MetricReport metrics_;
  std::optional<double> loss_;
  std::optional<double> best_;
  std::optional<double> resource_;
  std::map<double, double> losses_;  // by resource; only for the median rule
  std::size_t next_rung_ = 0;
  bool diverged_ = false;
};

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
