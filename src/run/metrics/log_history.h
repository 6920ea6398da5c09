// The reports that patterns find in the log of a run: line by line, and in the files of its run directory as they grow.
//
// The log is a program's and not trusted (run/metrics/growing_lines.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/metric_history.h"
#include "run/directory/metrics_line.h"
#include "run/metrics/growing_log.h"
#include "run/metrics/log_patterns.h"

namespace muster {

// The process whose log is read. Kind "metrics": the plan has no such role.
Result<ProcessId> LoggingProcess(const Plan& plan, const LogMetrics& choice, const Place& place = {});
// The process whose log is read, as "worker.0"; empty if the run directory has no valid plan.
std::string LoggingProcessOf(const std::string& run_dir, const LogMetrics& choice);

// Which lines of a log are reports: see MetricsWatch (sweep/trial/metrics_watch.h).
class LogReports {
 public:
  // `patterns` must outlive this object. `resource`: the metric that counts progress.
  LogReports(const LogPatterns& patterns, std::string resource) : patterns_(patterns), resource_(std::move(resource)) {}

  // Nothing if the line is no report.
  std::optional<MetricValues> Take(std::string_view line);

 private:
  const LogPatterns& patterns_;
  std::string resource_;
  Value latest_;  // of the resource
};

class RunLog {
 public:
  using Report = std::function<void(std::uint32_t attempt, const MetricValues& report)>;

  // Of a run directory. `patterns` must outlive this object. `process`: whose log it is ("worker.0"); empty: the one
  // that `choice` and the plan in the directory say.
  RunLog(const LogPatterns& patterns, LogMetrics choice, const std::string& resource, std::string run_dir,
         std::string process = {});

  // Passes on the new reports of all attempts, in their order. `over`: nothing is written any more, so a last line
  // without an end counts. Of more than kMostAtOnce new bytes of a log the first and the very last are read.
  void Read(bool over, const Report& report);

  static constexpr std::size_t kMostAtOnce = 64U << 20;  // of one log

 private:
  const LogMetrics choice_;
  const std::string run_dir_;
  std::string process_;  // "worker.0", once that is known
  LogReports reports_;
  std::map<std::uint32_t, GrowingLog> logs_;  // by attempt
};

// Everything that patterns find in the log of a run, as of a process without a name; nothing without patterns.
std::optional<ProcessHistory> ReadLogHistory(const LogMetrics& choice, const std::string& resource,
                                             const std::string& run_dir, bool over);

// The metric that counts progress among patterns: the first of step, global_step, iteration, iter, epoch.
std::string StepPattern(const LogMetrics& metrics);

// The same by what the run's own plan says (Plan::metrics), as of the process whose log it is; of "ROLE.log" if one of
// `reported` has that name and index, that is if the process has reports at $MUSTER_METRICS as well. Nothing if the
// plan has no patterns, or nothing was found.
std::optional<ProcessHistory> ReadOwnLogHistory(const std::string& run_dir, bool over,
                                                const std::vector<ProcessHistory>& reported);

}  // namespace muster
