// Metrics in logs: the patterns that are applied to their lines, and the reports that they find in the log of a
// process, line by line and in files as they grow. Besides cli/lookup/run_list.h the only user of RE2
// (https://github.com/google/re2/wiki/Syntax): linear time for every pattern. The log is a program's and not trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/growing_file.h"
#include "metrics/metric_history.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

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
  MetricValues Find(std::string_view line) const;

 private:
  std::map<std::string, LinePattern> patterns_;
};

// The process whose log is read. Kind "metrics": the plan has no such role.
Result<ProcessId> LoggingProcess(const Plan& plan, const LogMetrics& choice, const Place& place = {});

// Which lines of a log are reports: those in which at least one pattern finds a value. A line with the resource alone
// is no report, but sets the resource of the following ones; if the resource has the only pattern, each match is a
// report.
class LogReports {
 public:
  // `patterns` must outlive this object. `resource`: the metric that counts progress; empty: step.
  LogReports(const LogPatterns& patterns, const std::string& resource)
      : patterns_(patterns), resource_(resource.empty() ? kStepMetrics.front() : resource) {}

  // Nothing if the line is no report.
  std::optional<MetricValues> Take(std::string_view line);

 private:
  const LogPatterns& patterns_;
  std::string resource_;
  Value latest_;  // of the resource
};

// The log of a process of a run, with all its attempts.
class RunLog {
 public:
  using Report = std::function<void(std::uint32_t attempt, const MetricValues& report)>;

  // `patterns` must outlive this object. `process`: "worker.0".
  RunLog(const LogPatterns& patterns, const std::string& resource, std::string run_dir, std::string process)
      : run_dir_(std::move(run_dir)), process_(std::move(process)), reports_(patterns, resource) {}

  // Passes on the new reports of all attempts, in their order; of more than kMaxHistoryBytes of an attempt those in the
  // last ones. `over`: nothing is written any more, so a last line without an end counts.
  void Read(bool over, const Report& report);

 private:
  std::string run_dir_;
  std::string process_;
  LogReports reports_;
  std::map<std::uint32_t, GrowingFile> logs_;  // by attempt
};

// The logs of the attempts of a process ("worker.0"), as names in the run directory's folder logs/, in order.
std::vector<std::string> LogsOf(const std::string& run_dir, const std::string& process);

// Everything that patterns find in the log of a process; its role and index are left empty. Nothing without patterns.
std::optional<ProcessHistory> ReadLogHistory(const LogMetrics& choice, const std::string& resource,
                                             const std::string& run_dir, const std::string& process, bool over);

}  // namespace muster
