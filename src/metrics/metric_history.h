// The metrics that processes of a run reported, read from the files in its folder metrics/: the newest report, and the
// history of all of them as columns of numbers, for curves, sparklines and exports. The files are the programs' and not
// trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metrics_line.h"

namespace muster {

inline constexpr std::size_t kMaxMetricFiles = 100'000;
// The last bytes of a file that are kept in memory.
inline constexpr std::size_t kMaxHistoryBytes = std::size_t{64} << 20;

// The metrics files of a run, by role, index and attempt; at most kMaxMetricFiles.
std::vector<MetricsFileName> MetricsFiles(const std::string& run_dir);

// The last complete line of a metrics file; nothing if there is none. `path` is relative to the open run directory.
std::optional<MetricValues> NewestReport(int run_folder, const std::string& path);

// By role: the newest report of its first process that has a file, in the latest attempt.
using RoleReports = std::map<std::string, MetricValues>;
RoleReports NewestReports(const std::string& run_dir);

// "step 100, loss 0.25" if only one role has reported, "chief: …; worker: …" for several.
std::string MetricsText(const RoleReports& reports);

// The values of one metric, in the order of the reports.
struct MetricColumn {
  std::vector<std::uint32_t> reports;  // numbers of the reports that have this metric, from 0, ascending
  std::vector<double> values;          // in the same order; NaN: not finite, which is null in the file

  bool operator==(const MetricColumn&) const = default;
};

// The reports of a process. Texts and booleans have no place in a curve and are omitted.
struct MetricHistory {
  std::map<std::string, MetricColumn, std::less<>> columns;  // at most kMaxMetricNames
  std::uint32_t reports = 0;
  std::uint64_t bad_lines = 0;  // no JSON object, or too long

  // Appends the report in the line, or counts an invalid one. `whole`: as in GrowingFile::Take.
  void Take(std::string_view line, bool whole);
  // Appends a report.
  void Add(const MetricValues& report);
  // Appends the reports of `more`, which happened later.
  void Join(const MetricHistory& more);
  // Removes all reports but the first `count`.
  void KeepFirst(std::uint32_t count);
  bool empty() const { return reports == 0; }

 private:
  void Append(std::string_view name, double number);
};

// The value of a metric that holds at a report: the last finite one until then.
class HeldValue {
 public:
  // `history` must outlive this object. `before`: the value before the first report of the metric.
  HeldValue(const MetricHistory& history, std::string_view metric,
            double before = std::numeric_limits<double>::quiet_NaN());
  // Reports ascend from call to call.
  double At(std::uint32_t report);

 private:
  const MetricColumn* column_ = nullptr;  // null: never reported
  std::size_t next_ = 0;
  double value_;
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

// Passes the reports of the whole file to `take` in parts, in order and each a history of its own, until that returns
// false. Reads at most `most` bytes, and at most a part of them (GrowingFile::kMaxAtOnce) is in memory. Returns the
// number of bytes read; nothing if the file cannot be read.
std::optional<std::uint64_t> ReadMetricParts(const std::string& run_dir, const MetricsFileName& file,
                                             std::uint64_t most, const std::function<bool(const MetricHistory&)>& take);

// A process of the run, with the reports of all its attempts in order.
struct ProcessHistory {
  std::string role;
  std::uint32_t index = 0;
  std::vector<std::uint32_t> attempt_starts;  // the number of the first report of each attempt that has a file
  MetricHistory history;
};

// Those of all processes that reported, by role and index; at most `most` processes. Of each file the last
// kMaxHistoryBytes.
std::vector<ProcessHistory> ReadMetricHistories(const std::string& run_dir, std::size_t most = kMaxMetricFiles);

// Those of the processes that count in reports: the first one of each role that reported anything.
std::vector<ProcessHistory> ReadRoleHistories(const std::string& run_dir);

// Appends the reports of a later run, which continued from a checkpoint, to those of the process of the same role in
// `all`: reports from the progress on at which it continued are replaced. `resource`: the metric that counts progress;
// may be empty.
void ContinueHistory(std::vector<ProcessHistory>& all, ProcessHistory later, const std::string& resource);

}  // namespace muster
