// What a trial reports, as values: one line of $MUSTER_METRICS, the file of a result, and what of it can be compared.
//
// Texts are the programs' and not trusted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "space/sweep_description.h"

namespace muster {

// One report: numbers, truths and short texts by name; null is a number that is not finite.
using MetricValues = std::map<std::string, Value>;

// A number that can be compared; `given` but none: it is not finite, or no number. A trial whose objective is such has
// diverged.
struct MetricNumber {
  bool given = false;
  std::optional<double> number = {};
};
MetricNumber NumberOf(const MetricValues& values, const std::string& metric);

// The object of one line of $MUSTER_METRICS; NaN and infinities, which JSON has not and programs write all the same,
// are null. Nothing: it is none.
std::optional<MetricValues> MetricsLine(std::string_view line);

// The process whose log is read. Kind "metrics": the plan has no such role.
Result<ProcessId> LoggingProcess(const Plan& plan, const MetricsChoice& choice);

// What MetricsChoice::result_file holds once the trial has ended. `cwd`: the folder that muster was called from. Kind
// "metrics": there is none, or it is no object of JSON.
Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd);

}  // namespace muster
