// Early stopping rules over all attempts of a sweep: asynchronous successive halving (ASHA) and the median rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "metrics/metrics_line.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// The state of one attempt according to its reports: progress, loss, and whether to stop it early. The rules that
// compare trials (sweep/record/sweep_events.h) are shared by all attempts of a sweep.

class TrialProgress {
 public:
  const MetricValues& metrics() const { return metrics_; }  // the latest of each
  // The last value of the objective, negated if it is to be maximized. None: no finite value was reported.
  const std::optional<double>& loss() const { return loss_; }
  // The last value of early stopping's resource metric; nothing without a rule, or if it was never reported.
  const std::optional<double>& resource() const { return resource_; }
  const std::map<double, double>& losses() const { return losses_; }
  bool diverged() const { return diverged_; }

 private:
  friend class StopRules;
  MetricValues metrics_;
  std::optional<double> loss_;
  std::optional<double> best_;
  std::optional<double> resource_;
  std::map<double, double> losses_;  // by resource; only for the median rule
  std::size_t next_rung_ = 0;
  bool diverged_ = false;
};

// Asynchronous successive halving (ASHA): which trials continue at each rung.

// Asynchronous successive halving in its stopping form (Li et al., A System for Massively Parallel Hyperparameter
// Tuning, MLSys 2020; the form of Optuna's pruner): at rung k, that is, resource min · eta^k, a trial continues if and
// only if its rank among the results of the rung so far is at most max(1, floor(n / eta)).
class Asha {
 public:
  // 0 < min <= max, eta >= 2. All trials continue until there are `min_results` results.
  Asha(double min, double max, double eta, std::size_t min_results = 0);
  Asha(Asha&&) noexcept;
  ~Asha();

  // Resources of the rungs, ascending: min, min · eta, … up to max. No trial is stopped at the last one, the end.
  const std::vector<double>& rungs() const { return rungs_; }

  // Adds a trial's report at the rung, which replaces that of an earlier attempt. O(log n).
  StopDecision Report(std::size_t rung, std::uint64_t trial, double loss);

 private:
  struct Rung;
  std::vector<double> rungs_;
  double eta_;
  std::size_t min_results_;
  std::vector<std::unique_ptr<Rung>> results_;
};

// The median stopping rule: stops a trial that is worse than most finished trials were at the same step.

// The median stopping rule (Golovin et al., Google Vizier, KDD 2017): a trial is stopped at step t if its best loss so
// far is worse than the median, over finished trials, of the mean of their losses up to t.
class MedianRule {
 public:
  // No trial is stopped at steps below `warmup`, nor before so many have finished.
  explicit MedianRule(double warmup = 0, std::size_t min_finished = 5) : warmup_(warmup), min_finished_(min_finished) {}

  // Losses of a finished trial by step, ascending; they replace those of an earlier attempt.
  void Finished(std::uint64_t trial, const std::map<double, double>& losses);

  struct Decision {
    std::size_t finished = 0;      // trials that had reported by that step
    std::optional<double> median;  // none before enough have finished
    bool stop = false;
  };
  // O(finished trials · log of their reports).
  Decision At(double step, double best_loss) const;

 private:
  double warmup_;
  std::size_t min_finished_;
  std::map<std::uint64_t, std::vector<std::pair<double, double>>> means_;  // by finished trial: step, mean up to it
};

// Early stopping rules over all attempts of a sweep.
class StopRules {
 public:
  // Replays the reports to earlier heads of the sweep in the same order, so the same decisions follow.
  StopRules(const SweepDescription& sweep, const SweepProgress& progress);

  // The result of a report: entries for the journal, in order, and whether to stop the attempt.
  struct Outcome {
    std::vector<SweepEntry> entries;
    bool stop = false;
    std::string why;  // "rung 2 of 4: rank 9 of 12, the best 3 go on"; only if `stop`
  };
  Outcome Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress, const MetricValues& report);
  // For an attempt that resumes from a checkpoint: reports of earlier attempts count until it reports itself,
  // and the first `rungs` rungs, which they passed, are not decided again. Values that are not finite are
  // ignored.
  void Continue(TrialProgress& progress, std::uint64_t rungs) const { progress.next_rung_ = rungs; }
  void Recall(TrialProgress& progress, const MetricValues& report) const;
  // An attempt has succeeded.
  void Finished(TrialNumber trial, const TrialProgress& progress);

 private:
  // Stores the values of a report; false if its objective is not a finite number.
  bool Note(TrialProgress& progress, const MetricValues& report) const;

  std::optional<Objective> objective_;
  std::optional<EarlyStopChoice> choice_;
  std::optional<Asha> asha_;
  std::optional<MedianRule> median_;
};

}  // namespace muster
