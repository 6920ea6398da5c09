// Asynchronous successive halving (ASHA): which trials continue at each rung.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sweep/record/early_stop.h"

namespace muster {

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

}  // namespace muster
