// The metrics of runs by what is in their directories: whose log patterns are applied to, as the plan says, and reports
// of files and logs together. The reading is in metrics/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "metrics/metric_history.h"
#include "muster/plan.h"

namespace muster {

// The process whose log is read, as "worker.0"; empty if the run directory has no valid plan.
std::string LoggingProcessOf(const std::string& run_dir, const LogMetrics& choice);

// What the patterns of the run's own plan (Plan::metrics) find in its log, as of the process whose log it is; of
// "ROLE.log" if one of `reported` has that name and index, that is if the process has reports at $MUSTER_METRICS as
// well. Nothing if the plan has no patterns, or nothing was found.
std::optional<ProcessHistory> ReadOwnLogHistory(const std::string& run_dir, bool over,
                                                const std::vector<ProcessHistory>& reported);

// The reports of runs of which each continued the one before it from a checkpoint, up to where the next one went on:
// those of the processes that count, and after them what patterns find in the logs, as of a process without a name.
// `resource`: the metric that counts progress; may be empty. `over`: nothing is written to the log of the last run any
// more.
std::vector<ProcessHistory> ReadContinuedHistory(const std::vector<std::string>& run_dirs, const LogMetrics& in_logs,
                                                 const std::string& resource, bool over);

}  // namespace muster
