// Metrics that processes reported by $MUSTER_METRICS: one line of it, the newest values, and the history of a file as
// columns of numbers, for curves, sparklines and exports. The files are written by the programs and not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/value.h"

namespace muster {

// Parses one line of $MUSTER_METRICS. Lines are written by the programs and not trusted.

// One report: numbers, booleans and short texts by name; a number that is not finite is null.
using MetricValues = std::map<std::string, Value>;

inline constexpr std::size_t kMaxMetricsLine = 64U << 10;  // longer lines are ignored
inline constexpr std::size_t kMaxMetricNames = 200;

// The JSON object of the line; NaN and infinities, which JSON lacks but programs write, are null. Empty if the line is
// not an object. Names beyond the first kMaxMetricNames, long texts, lists and objects are omitted.
std::optional<MetricValues> MetricsLine(std::string_view line);

// Reads the newest metrics that processes reported, for views of active runs. Only the last line of a file is
// read: older values are not needed. The files are written by the programs and not trusted
// (run/report/metrics_report.h).

// "step 100, loss 0.25": at most four numbers, step counters first. Safe for a terminal.
std::string MetricsText(const MetricValues& values);

// The last complete line of a metrics file; empty if there is none. `path` is relative to the run directory.
std::optional<MetricValues> NewestReport(int run_folder, const std::string& path);

// By role: the newest report of its first process that has a file, in the latest attempt. Found by file names alone, at
// most kMaxMetricFiles of them.
using RoleReports = std::map<std::string, MetricValues>;
inline constexpr std::size_t kMaxMetricFiles = 100'000;
RoleReports NewestReports(const std::string& run_dir);

// "step 100, loss 0.25" if only one role has reported, "chief: …; worker: …" for several.
std::string MetricsText(const RoleReports& reports);

// The process whose metrics file has this name ("worker.2.0.jsonl"); empty for other files.
struct MetricsFileName {
  std::string role;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;

  bool operator==(const MetricsFileName&) const = default;
};
std::optional<MetricsFileName> ParseMetricsFileName(std::string_view name);

// Reads the history of the metrics that processes reported: every report of a file as columns of numbers, for curves,
// sparklines and exports. Texts and booleans of reports have no place in a curve and are omitted.
//
// The files are written by the programs and not trusted (run/report/metrics_report.h): the last kMaxHistoryBytes of a
// file are kept, or parts of kMetricsPartBytes one after the other, and invalid lines are counted.

inline constexpr std::size_t kMaxHistoryBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMetricsPartBytes = std::size_t{1} << 20;

// The values of one metric, in the order of the reports.
struct MetricColumn {
  std::vector<std::uint32_t> reports;  // numbers of the reports that have this metric, from 0, ascending
  std::vector<double> values;          // in the same order; NaN: not finite, which is null in the file

  bool operator==(const MetricColumn&) const = default;
};

struct MetricHistory {
  std::map<std::string, MetricColumn, std::less<>> columns;  // at most kMaxMetricNames
  std::uint32_t reports = 0;
  std::uint64_t bad_lines = 0;      // not a JSON object, or too long
  std::uint64_t skipped_bytes = 0;  // at the beginning of files that are too long

  // Appends the reports in the text, which continues the text of the previous call; returns the length of its complete
  // lines. The rest is the beginning of a line that is still being written.
  std::size_t Take(std::string_view text);
  // Appends a report.
  void Add(const MetricValues& report);
  // Appends the reports of `more`, which happened later.
  void Join(const MetricHistory& more);
  // Removes all reports but the first `count`.
  void KeepFirst(std::uint32_t count);
  bool empty() const { return reports == 0; }
};

// A metric over another one: points in the order of the reports.
struct MetricSeries {
  std::vector<double> x;
  std::vector<double> y;  // NaN: reported, but not finite

  bool operator==(const MetricSeries&) const = default;
};

// The metric `y` over the metric `x`, or over the number of the report (from 1) if `x` is empty. A report without `x`
// has the last value before it; values of `y` before the first `x` are omitted.
MetricSeries SeriesOf(const MetricHistory& history, std::string_view y, std::string_view x);

// The metric that counts progress: `preferred` if it was reported, else the first of step, global_step, iteration,
// iter, epoch that was; empty if none was.
std::string StepMetric(const MetricHistory& history, std::string_view preferred = {});

// The metrics files of a run, by role, index and attempt; at most kMaxMetricFiles.
std::vector<MetricsFileName> MetricsFiles(const std::string& run_dir);
// Empty if the file cannot be read.
std::optional<MetricHistory> ReadMetricHistory(const std::string& run_dir, const MetricsFileName& file);

// Passes the reports of the whole file to `take` in parts, in order and each a history of its own, until that returns
// false. Reads at most `most` bytes, and at most a part of them is in memory. Returns the number of bytes read; nothing
// if the file cannot be read.
std::optional<std::uint64_t> ReadMetricParts(const std::string& run_dir, const MetricsFileName& file,
                                             std::uint64_t most, const std::function<bool(const MetricHistory&)>& take);

// A process of the run, with the reports of all its attempts in order.
struct ProcessHistory {
  std::string role;
  std::uint32_t index = 0;
  std::vector<std::uint32_t> attempt_starts;  // the number of the first report of each attempt that has a file
  MetricHistory history;
};

// Those of all processes that reported, by role and index; at most `most` processes.
std::vector<ProcessHistory> ReadMetricHistories(const std::string& run_dir, std::size_t most = kMaxMetricFiles);

// Those of the processes that count in reports: the first one of each role that reported anything, as in a trial.
std::vector<ProcessHistory> ReadRoleHistories(const std::string& run_dir);

}  // namespace muster
