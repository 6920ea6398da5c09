// Early stopping rules over all attempts of a sweep: asynchronous successive halving (ASHA), which stops trials or
// pauses them, its brackets in Hyperband, and the median rule. Without processes and clock: a caller that has curves
// can replay them (benchmarks/early_stop.cc).
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

// Asynchronous successive halving (Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020), in
// two forms. At rung k, that is, resource min · eta^k, a trial continues if and only if its rank among the n results of
// the rung so far is at most
//   max(1, floor(n / eta)), in the form that stops the others (that of Optuna's pruner);
//   floor(n / eta), in the form that pauses them: each continues once that holds for it, the highest rung first.
class Asha {
 public:
  enum class Form : std::uint8_t { kStops, kPauses };

  // 0 < min <= max, eta >= 2. All trials continue until there are `min_results` results (kStops).
  Asha(double min, double max, double eta, std::size_t min_results = 0, Form form = Form::kStops);
  // With these rungs.
  Asha(std::vector<double> rungs, double eta, std::size_t min_results, Form form);
  Asha(Asha&&) noexcept;
  ~Asha();

  // Resources of the rungs, ascending: min, min · eta, … up to max. No trial is stopped at the last one, the end.
  const std::vector<double>& rungs() const { return rungs_; }

  // Adds a trial's report at the rung, which replaces that of an earlier attempt. O(log n).
  StopDecision Report(std::size_t rung, std::uint64_t trial, double loss);

  // The functions below are for the form that pauses trials.

  // The trial has ended at the rung where it was paused, and can continue.
  void Paused(std::size_t rung, std::uint64_t trial);
  // The paused trial that should continue now, if there is one. O(rungs · log n).
  std::optional<TrialPromoted> Next() const;
  // It continues. Of a trial that is not paused there, only that it had continued.
  void Promoted(std::size_t rung, std::uint64_t trial);
  // It is not paused any more, and does not continue.
  void Dropped(std::size_t rung, std::uint64_t trial);

 private:
  struct Rung;
  std::size_t Share(const Rung& rung) const;

  std::vector<double> rungs_;
  double eta_;
  std::size_t min_results_;
  Form form_;
  std::vector<std::unique_ptr<Rung>> results_;
};

// Hyperband (Li et al., JMLR 18(185), 2018): several brackets, which begin to compare their trials at different
// resources, so that a trial that is slow at first is not always stopped.

struct HyperbandBracket {
  std::vector<double> resources;      // of its rungs, ascending: max · eta^-s, …, max for bracket s
  std::vector<std::uint64_t> trials;  // at each of them, in the synchronous form
};

// From the one with the most rungs to that with one: those of Algorithm 1 for s = s_max, …, 0. 0 < min <= max, eta
// >= 2.
std::vector<HyperbandBracket> HyperbandBrackets(double min, double max, double eta);

// The bracket of a trial, in the proportions of the first numbers of trials: of so many successive trials as all
// brackets have together, each bracket has exactly its number. A function of seed and trial.
std::size_t BracketOf(const std::vector<HyperbandBracket>& brackets, std::uint64_t seed, std::uint64_t trial);

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
  // Resources of all rungs, ascending; empty without rungs.
  const std::vector<double>& rungs() const { return rungs_; }
  Outcome Take(TrialNumber trial, std::uint32_t attempt, TrialProgress& progress, const MetricValues& report);
  // For an attempt that resumes from a checkpoint: reports of earlier attempts count until it reports itself,
  // and the first `rungs` rungs, which they passed, are not decided again. Values that are not finite are
  // ignored.
  void Continue(TrialProgress& progress, std::uint64_t rungs) const { progress.next_rung_ = rungs; }
  void Recall(TrialProgress& progress, const MetricValues& report) const;
  // An attempt has succeeded.
  void Finished(TrialNumber trial, const TrialProgress& progress);

  // With promotion. A trial was paused at the rung, from 0, and its attempt has ended.
  void Paused(TrialNumber trial, std::size_t rung);
  // The paused trial that should continue now, as the entry that records it: of the highest rung the best.
  std::optional<TrialPromoted> NextPromotion() const;
  // It continues, or, of Dropped(), does not.
  void Promoted(const TrialPromoted& entry);
  void Dropped(const TrialPromoted& entry);

 private:
  // Stores the values of a report; false if its objective is not a finite number.
  bool Note(TrialProgress& progress, const MetricValues& report) const;

  // The rungs of one bracket are the last ones of all.
  struct Bracket {
    std::size_t first = 0;
    Asha asha;
  };
  Bracket& Of(TrialNumber trial);
  std::string BracketText(const Bracket& bracket) const;

  std::optional<Objective> objective_;
  std::optional<EarlyStopChoice> choice_;
  std::uint64_t seed_ = 0;
  std::vector<HyperbandBracket> hyperband_;
  std::vector<double> rungs_;
  std::vector<Bracket> brackets_;  // one for ASHA
  std::optional<MedianRule> median_;
};

}  // namespace muster
