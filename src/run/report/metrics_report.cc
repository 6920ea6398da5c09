#include "run/report/metrics_report.h"

#include <algorithm>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>

#include "muster/plan.h"
#include "run/directory/private_files.h"
#include "run/metrics/log_patterns.h"
#include "run/metrics/metric_history.h"

namespace muster {

std::string MetricsPath(const Plan& plan, ProcessId process, std::uint32_t attempt) {
  return fmt::format("metrics/{}.{}.jsonl", ProcessName(plan, plan.processes[process]), attempt);
}

void TakeMetrics(std::string_view text, RoleMetrics& metrics) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    ++metrics.lines;
    const bool whole = end != std::string_view::npos && line.size() <= kMaxMetricsLine;
    const auto report = whole ? MetricsLine(line) : std::nullopt;
    if (!report) {
      ++metrics.bad_lines;
      continue;
    }
    for (const auto& [name, one] : *report) {
      if (one.IsNull()) {
        metrics.last.erase(name);  // beside a later step, the earlier value would mislead
      } else if (metrics.last.size() < kMaxMetricNames || metrics.last.contains(name)) {
        metrics.last[name] = one;
      }
    }
  }
}

namespace {

// Whether any process has reported metrics.
bool HasMetrics(int folder) {
  Result<UniqueFd> opened = OpenFolder(folder, "metrics");
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
      const Result<FileTail> tail = ReadTail(folder, MetricsPath(plan, id, attempt), kMaxMetricsBytes, O_NOFOLLOW);
      if (!tail) continue;
      std::string_view text(tail->bytes);
      if (tail->offset > 0) text.remove_prefix(std::min(text.size(), text.find('\n')));  // skip a partial line
      TakeMetrics(text, metrics);
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
  RunLog(*patterns, plan.metrics, StepPattern(plan.metrics), run_dir, ProcessName(plan, process))
      .Read(over, [&](std::uint32_t, const MetricValues& report) {
        ++found.lines;
        for (const auto& [name, value] : report) {
          if (value.IsNull()) {
            found.last.erase(name);
          } else if (found.last.size() < kMaxMetricNames || found.last.contains(name)) {
            found.last[name] = value;
          }
        }
      });
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
  same->last.insert(found.last.begin(), found.last.end());
}

}  // namespace muster
