// The newest metrics that processes reported, as rows of running work show them. Only the last line of a file is read:
// values that were reported long ago are not news. The files are the programs' and not trusted
// (run/report/metrics_report.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "run/directory/metrics_line.h"

namespace muster {

// "step 100, loss 0.25": at most four numbers, those that count steps first. Safe for a terminal.
std::string MetricsText(const MetricValues& values);

// The last whole line of a metrics file; nothing if there is none. `path` is relative to the run directory.
std::optional<MetricValues> NewestReport(int run_folder, const std::string& path);

// By role: the newest report of its first process that has a file, in the latest attempt. Found by the names of the
// files alone, at most kMostMetricFiles of them.
using RoleReports = std::map<std::string, MetricValues>;
inline constexpr std::size_t kMostMetricFiles = 100'000;
RoleReports NewestReports(const std::string& run_dir);

// "step 100, loss 0.25" of the only role that reported, or "chief: …; worker: …" of several.
std::string MetricsText(const RoleReports& reports);

// The process whose metrics file has this name ("worker.2.0.jsonl"); nothing for another file.
struct MetricsFileName {
  std::string role;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;

  bool operator==(const MetricsFileName&) const = default;
};
std::optional<MetricsFileName> ParseMetricsFileName(std::string_view name);

}  // namespace muster
