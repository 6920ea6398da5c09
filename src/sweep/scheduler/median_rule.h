// The median stopping rule: stops a trial that is worse than most finished trials were at the same step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace muster {

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

}  // namespace muster
