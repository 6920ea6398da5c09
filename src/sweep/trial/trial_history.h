// The reports of a trial: those of one of its attempts, and before them those of the attempts that this one continued
// from a checkpoint, each up to where the next one went on.
#pragma once

#include <string>
#include <vector>

#include "run/metrics/metric_history.h"
#include "space/sweep_description.h"

namespace muster {

// `run_dirs`: of these attempts, in order. `in_logs`: what patterns find in their logs, as of a process without a name
// and after the others. `resource`: the metric that counts progress; may be empty. `over`: nothing is written to the
// log of the last one any more.
std::vector<ProcessHistory> ReadTrialHistory(const std::vector<std::string>& run_dirs, const MetricsChoice& in_logs,
                                             const std::string& resource, bool over);

}  // namespace muster
