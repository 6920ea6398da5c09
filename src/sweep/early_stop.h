// Which trials are stopped before their end, seen from the losses that they report. Decisions depend on the order of
// the reports and on nothing else, so a journal of reports gives the same decisions again. A loss is a finite number,
// the smaller the better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster {

// What was decided, with everything that it was decided by.
struct StopDecision {
  std::size_t rung = 0;       // from 0
  std::size_t results = 0;    // at this rung, this one included
  std::size_t rank = 0;       // of this one among them, from 1; of equal losses the earlier is the better
  std::size_t threshold = 0;  // ranks up to it go on
  bool stop = false;

  bool operator==(const StopDecision&) const = default;
};

// Asynchronous successive halving in its stopping form (Li et al., A System for Massively Parallel Hyperparameter
// Tuning, MLSys 2020; the form of Optuna's pruner): at rung k, that is, resource min · eta^k, a trial goes on if and
// only if its rank among the results of the rung until then is at most max(1, floor(n / eta)).
class Asha {
 public:
  // 0 < min <= max, eta >= 2. Until `min_results` are there, all go on.
  Asha(double min, double max, double eta, std::size_t min_results = 0);
  Asha(Asha&&) noexcept;
  ~Asha();

  // Resources of the rungs, ascending: min, min · eta, … up to max. At the last nobody is stopped: it is the end.
  const std::vector<double>& rungs() const { return rungs_; }

  // The next report of a trial at the rung; it takes the place of one of an earlier attempt. O(log n).
  StopDecision Report(std::size_t rung, std::uint64_t trial, double loss);

 private:
  struct Rung;
  std::vector<double> rungs_;
  double eta_;
  std::size_t min_results_;
  std::vector<std::unique_ptr<Rung>> results_;
};

// The median rule (Golovin et al., Google Vizier, KDD 2017): a trial is stopped at step t if its best loss until then
// is worse than the median, over finished trials, of the mean of their losses up to t.
class MedianRule {
 public:
  // Nobody is stopped at steps below `warmup`, nor before so many have finished.
  explicit MedianRule(double warmup = 0, std::size_t min_finished = 5) : warmup_(warmup), min_finished_(min_finished) {}

  // Losses of a finished trial by step, ascending; they take the place of an earlier attempt's.
  void Finished(std::uint64_t trial, const std::map<double, double>& losses);

  struct Decision {
    std::size_t finished = 0;      // trials that had reported by that step
    std::optional<double> median;  // none before there are enough
    bool stop = false;
  };
  // O(finished trials · log of their reports).
  Decision At(double step, double best_loss) const;

 private:
  double warmup_;
  std::size_t min_finished_;
  std::map<std::uint64_t, std::vector<std::pair<double, double>>> means_;  // by finished trial: step, mean up to it
};

}  // namespace muster
