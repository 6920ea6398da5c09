// Metrics in logs: the patterns that are applied to their lines, and the reports that they find in the log of a run,
// line by line and in files as they grow. Besides cli/lookup/run_list.h the only user of RE2
// (https://github.com/google/re2/wiki/Syntax): linear time for every pattern. The log is a program's and not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/metrics/growing_lines.h"
#include "run/metrics/metric_history.h"

namespace muster {

// Patterns that are applied to lines of logs: which metrics are read from a line. Besides cli/lookup/run_list.h the
// only user of RE2 (https://github.com/google/re2/wiki/Syntax): linear time for every pattern.

// Converts a value that a program wrote: a whole number, a number, null if it is not finite ("nan", "-inf"), else the
// text. Ignores commas, semicolons and closing brackets after a number: "2.31," is 2.31.
Value ValueWritten(std::string_view text);

class LinePattern {
 public:
  // Kind "pattern": an invalid regular expression. `what` it is of, for messages: "the metric loss".
  static Result<LinePattern> Of(const std::string& text, const std::string& what, const Place& place);
  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  int groups() const;
  bool Matches(std::string_view line) const;
  // The first group of the first match; the pattern must have a group.
  std::optional<std::string_view> Group(std::string_view line) const;

 private:
  struct Compiled;
  explicit LinePattern(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

// The patterns of LogMetrics.
class LogPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or not exactly one group.
  static Result<LogPatterns> Of(const std::map<std::string, std::string>& patterns, const Place& place);

  bool empty() const { return patterns_.empty(); }
  // Whether this metric has the only pattern.
  bool only(const std::string& metric) const { return patterns_.size() == 1 && patterns_.contains(metric); }
  // By metric, the group of the first match in the line; metrics without a match are omitted.
  std::map<std::string, Value> Find(std::string_view line) const;

 private:
  std::map<std::string, LinePattern> patterns_;
};

// The reports that patterns find in the log of a run: line by line, and in the files of its run directory as they grow.
//
// The log is a program's and not trusted (run/metrics/growing_lines.h).

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
  // without an end counts. Of more than kMaxAtOnce new bytes of a log the first and the very last are read.
  void Read(bool over, const Report& report);

  static constexpr std::size_t kMaxAtOnce = 64U << 20;  // of one log

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
