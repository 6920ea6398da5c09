// Asynchronous successive halving: which trials go on at each rung.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sweep/record/early_stop.h"

namespace muster {

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

}  // namespace muster
