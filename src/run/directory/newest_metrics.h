// Reads the newest metrics that processes reported, for views of active runs. Only the last line of a file is
// read: older values are not needed. The files are written by the programs and not trusted
// (run/report/metrics_report.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "run/directory/metrics_line.h"

namespace muster {

// "step 100, loss 0.25": at most four numbers, step counters first. Safe for a terminal.
std::string MetricsText(const MetricValues& values);

// The last complete line of a metrics file; empty if there is none. `path` is relative to the run directory.
std::optional<MetricValues> NewestReport(int run_folder, const std::string& path);

// By role: the newest report of its first process that has a file, in the latest attempt. Found by file names alone, at
// most kMostMetricFiles of them.
using RoleReports = std::map<std::string, MetricValues>;
inline constexpr std::size_t kMostMetricFiles = 100'000;
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

}  // namespace muster
