// Early stopping rules over all attempts of a sweep: asynchronous successive halving (ASHA), which stops trials or
// pauses them, its brackets in Hyperband, and the median rule. Without processes and clock: a caller that has curves
// can replay them (benchmarks/early_stop.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
  // Whether it has continued from there.
  bool HasPromoted(std::size_t rung, std::uint64_t trial) const;
  // As Next() says of a trial that is to continue in any case.
  TrialPromoted At(std::size_t rung, std::uint64_t trial) const;
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
// far is worse than the median, over finished trials, of the mean of their losses up to t. Repetitions of a point say
// what they say together: those that have finished of another point, and of its own the trial and those that have.
class MedianRule {
 public:
  // No trial is stopped at steps below `warmup`, nor before so many have finished.
  // `by_median`: what repetitions say together is the median, not the mean.
  explicit MedianRule(double warmup = 0, std::size_t min_finished = 5, bool by_median = false)
      : warmup_(warmup), min_finished_(min_finished), by_median_(by_median) {}

  // Losses of a finished trial by step, ascending; they replace those of an earlier attempt. `group`: of repetitions of
  // one point the same.
  void Finished(std::uint64_t trial, const std::map<double, double>& losses, std::optional<std::uint64_t> group = {});

  struct Decision {
    std::size_t finished = 0;      // points with trials that had reported by that step
    double best = 0;               // of the trial, with the finished repetitions of its point
    std::optional<double> median;  // none before enough have finished
    bool stop = false;
  };
  // O(finished trials · log of their reports).
  Decision At(double step, double best_loss, std::optional<std::uint64_t> group = {}) const;

 private:
  struct Until {
    double step = 0;
    double mean = 0;
    double best = 0;
  };
  using Repetitions = std::map<std::uint64_t, std::vector<Until>>;  // by finished trial, ascending

  double warmup_;
  std::size_t min_finished_;
  bool by_median_;
  std::map<std::pair<bool, std::uint64_t>, Repetitions> finished_;  // by group; alone (false) by trial
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
  // The trial, which reports nothing before, is a repetition of a point: points are compared, by what those of their
  // repetitions say together that have come to a rung, or have finished (median rule). With promotion all repetitions
  // of a point continue. `group`: SweepProgress::GroupOf().
  void Repeats(TrialNumber trial, std::uint64_t group);
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
  // The paused trial that should continue now, as the entry that records it: of the highest rung the best; before all
  // others one whose point continues already.
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
  Bracket& Of(std::uint64_t compared) { return brackets_[PlaceOf(compared)]; }
  std::size_t PlaceOf(std::uint64_t compared) const;
  // What is compared at rungs: the group of a repetition, else the trial.
  std::uint64_t Compared(TrialNumber trial) const;
  std::optional<std::uint64_t> GroupOf(TrialNumber trial) const;
  // Whether no other trial of its point is paused at the rung.
  bool NoLongerPaused(const TrialPromoted& entry);
  // Takes the loss of the trial; the decision about what it is compared as.
  StopDecision ReportAt(Bracket& bracket, std::size_t rung, TrialNumber trial, double loss);
  std::string BracketText(const Bracket& bracket) const;

  std::optional<Objective> objective_;
  std::optional<EarlyStopChoice> choice_;
  std::uint64_t seed_ = 0;
  bool by_median_ = false;  // what repetitions say together
  bool grouped_ = false;    // there are repetitions
  std::map<TrialNumber, std::uint64_t> groups_;
  // By rung and group: the losses of its repetitions there. By rung and what is compared: the trials paused there.
  std::map<std::pair<std::size_t, std::uint64_t>, std::map<TrialNumber, double>> repetitions_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::set<TrialNumber>> paused_;
  std::vector<HyperbandBracket> hyperband_;
  std::vector<double> rungs_;
  std::vector<Bracket> brackets_;  // one for ASHA
  std::optional<MedianRule> median_;
};

}  // namespace muster
