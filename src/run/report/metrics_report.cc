#include "run/report/metrics_report.h"

#include <algorithm>
#include <memory>

#include <dirent.h>

#include "base/system/private_files.h"
#include "metrics/growing_file.h"
#include "metrics/log_patterns.h"
#include "muster/plan.h"
#include "wire/files/run_layout.h"

namespace muster {

std::string MetricsPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  const Process& of = plan.processes[process];
  return MetricsFileName{plan.roles[of.role].name, of.index, attempt}.Path();
}

namespace {

void Keep(const MetricValues& report, RoleMetrics& metrics) {
  ++metrics.lines;
  KeepLast(report, metrics.last);
  for (const auto& [name, value] : report) {
    if (!value.IsNull()) {
      metrics.not_finite.erase(name);
    } else if (metrics.not_finite.size() < kMaxMetricNames) {
      metrics.not_finite.insert(name);
    }
  }
}

}  // namespace

void TakeMetrics(std::string_view line, bool whole, RoleMetrics& metrics) {
  const auto report = whole ? MetricsLine(line) : std::nullopt;
  if (report) {
    Keep(*report, metrics);
  } else {
    ++metrics.lines;
    ++metrics.bad_lines;
  }
}

namespace {

// Whether any process has reported metrics.
bool HasMetrics(int folder) {
  Result<UniqueFd> opened = OpenFolder(folder, kMetricsEntry.name);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opened ? ::fdopendir(opened->release()) : nullptr, ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (const std::string_view name = entry->d_name; name != "." && name != "..") return true;
  }
  return false;
}

}  // namespace

std::vector<RoleMetrics> ReadMetrics(const Plan& plan, int folder, const std::vector<std::uint32_t>& attempts) {
  std::vector<RoleMetrics> reported;
  if (!HasMetrics(folder)) return reported;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    const std::string& role = plan.roles[process.role].name;
    if (!reported.empty() && reported.back().role == role) continue;
    RoleMetrics metrics;
    metrics.role = role;
    metrics.index = process.index;
    for (std::uint32_t attempt = 0; attempt <= attempts[id]; ++attempt) {
      GrowingFile file(GrowingFile::Kind::kMetrics, MetricsPath(plan, id, attempt), folder);
      const auto take = [&](std::string_view line, bool whole) { TakeMetrics(line, whole, metrics); };
      file.ReadToEnd(take, kMaxMetricsBytes);
      file.Flush(take);
    }
    if (metrics.lines > 0) reported.push_back(std::move(metrics));
  }
  return reported;
}

void AddLogMetrics(const Plan& plan, const std::string& run_dir, bool over, std::vector<RoleMetrics>& metrics) {
  if (plan.metrics.patterns.empty()) return;
  const auto patterns = LogPatterns::Of(plan.metrics.patterns, {});
  const auto logging = LoggingProcess(plan, plan.metrics);
  if (!patterns || !logging) return;
  const Process& process = plan.processes[*logging];
  RoleMetrics found;
  RunLog(*patterns, StepMetric(plan.metrics.patterns), run_dir, ProcessName(plan, process))
      .Read(over, [&](std::uint32_t, const MetricValues& report) { Keep(report, found); });
  if (found.lines == 0) return;
  found.role = plan.roles[process.role].name;
  found.index = process.index;
  const auto same =
      std::find_if(metrics.begin(), metrics.end(), [&](const RoleMetrics& one) { return one.role == found.role; });
  if (same == metrics.end()) {
    metrics.push_back(std::move(found));
    return;
  }
  same->lines += found.lines;
  for (const std::string& name : found.not_finite) {
    if (!same->last.contains(name)) same->not_finite.insert(name);
  }
  for (const auto& [name, value] : found.last) {
    if (!same->not_finite.contains(name)) same->last.emplace(name, value);
  }
}

}  // namespace muster
