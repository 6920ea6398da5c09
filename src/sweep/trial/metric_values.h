// What a trial reports besides its lines of $MUSTER_METRICS: the log that is read, the file of a result, and what of
// reports can be compared.
//
// Texts are the programs' and not trusted.
#pragma once

#include <optional>
#include <string>

#include "muster/event.h"
#include "muster/result.h"
#include "run/directory/metrics_line.h"
#include "space/sweep_description.h"

namespace muster {

struct Plan;

// A number that can be compared; `given` but none: it is not finite, or no number. A trial whose objective is such has
// diverged.
struct MetricNumber {
  bool given = false;
  std::optional<double> number = {};
};
MetricNumber NumberOf(const MetricValues& values, const std::string& metric);

// The process whose log is read. Kind "metrics": the plan has no such role.
Result<ProcessId> LoggingProcess(const Plan& plan, const MetricsChoice& choice);

// What MetricsChoice::result_file holds once the trial has ended. `cwd`: the folder that muster was called from. Kind
// "metrics": there is none, or it is no object of JSON.
Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd);

}  // namespace muster
