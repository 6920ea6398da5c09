// The result file of a trial: metrics that a program writes at its end. The file is the program's and not trusted.
#pragma once

#include <string>

#include "metrics/metrics_line.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "space/sweep_description.h"

namespace muster {

// Reads MetricsChoice::result_file once the trial has ended. `cwd`: the folder that muster was called from. Kind
// "metrics": the file is missing, or is no JSON object.
Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd);

}  // namespace muster
