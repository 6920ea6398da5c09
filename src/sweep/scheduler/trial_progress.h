// The state of one attempt according to its reports: progress, loss, and whether to stop it early. The rules that
// compare trials (sweep/record/early_stop.h) are shared by all attempts of a sweep.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "muster/value.h"

namespace muster {

// One report: numbers, booleans and short texts by metric; null is a number that is not finite.
using MetricReport = std::map<std::string, Value>;

class TrialProgress {
 public:
  const MetricReport& metrics() const { return metrics_; }  // the latest of each
  // The last value of the objective, negated if it is to be maximized. None: no finite value was reported.
  const std::optional<double>& loss() const { return loss_; }
  // The last value of early stopping's resource metric; nothing without a rule, or if it was never reported.
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

}  // namespace muster
