// Metrics of a trial besides its lines of $MUSTER_METRICS: its log, its result file, and which values can be
// compared.
//
// The input is written by programs and not trusted.
#pragma once

#include <optional>
#include <string>

#include "muster/event.h"
#include "muster/result.h"
#include "run/metrics/metric_history.h"
#include "space/sweep_description.h"

namespace muster {

struct Plan;

// A comparable number; `given` without a number: the value is not finite, or no number. A trial with such an objective
// has diverged.
struct MetricNumber {
  bool given = false;
  std::optional<double> number = {};
};
MetricNumber NumberOf(const MetricValues& values, const std::string& metric);

// Reads MetricsChoice::result_file once the trial has ended. `cwd`: the folder that muster was called from. Kind
// "metrics": the file is missing, or is no JSON object.
Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd);

}  // namespace muster
