// The median rule: a trial is stopped that is worse than most were by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace muster {

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
