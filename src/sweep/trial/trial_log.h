// The reports that patterns find in the log of a trial: line by line, and in the files of its run directory as they
// grow.
//
// The log is a program's and not trusted (sweep/trial/growing_lines.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "muster/value.h"
#include "run/directory/metric_history.h"
#include "run/directory/metrics_line.h"
#include "space/sweep_description.h"
#include "sweep/trial/growing_log.h"
#include "sweep/trial/log_patterns.h"

namespace muster {

// The process whose log is read, as "worker.0"; empty if the run directory has no valid plan.
std::string LoggingProcessOf(const std::string& run_dir, const MetricsChoice& choice);

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

class TrialLog {
 public:
  using Report = std::function<void(std::uint32_t attempt, const MetricValues& report)>;

  // Of the run directory of a trial. `patterns` must outlive this object.
  TrialLog(const LogPatterns& patterns, MetricsChoice choice, const std::string& resource, std::string run_dir);

  // Passes on the new reports of all attempts, in their order. `over`: nothing is written any more, so a last line
  // without an end counts. Of more than kMostAtOnce new bytes of a log the first and the very last are read.
  void Read(bool over, const Report& report);

  static constexpr std::size_t kMostAtOnce = 64U << 20;  // of one log

 private:
  const MetricsChoice choice_;
  const std::string run_dir_;
  std::string process_;  // "worker.0", once that is known
  LogReports reports_;
  std::map<std::uint32_t, GrowingLog> logs_;  // by attempt
};

// Everything that patterns find in the log of a trial, as of a process without a name; nothing without patterns.
std::optional<ProcessHistory> ReadLogHistory(const MetricsChoice& choice, const std::string& resource,
                                             const std::string& run_dir, bool over);

}  // namespace muster
