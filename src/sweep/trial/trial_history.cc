#include "sweep/trial/trial_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run/metrics/log_patterns.h"

namespace muster {
namespace {

// Number of reports before the first one whose progress is at least that of the first report of `next`; all if either
// counts none.
std::uint32_t ReportsBefore(const MetricHistory& history, const MetricHistory& next, const std::string& resource) {
  const std::string steps = StepMetric(next, resource);
  const auto of_next = next.columns.find(steps);
  const auto of_history = history.columns.find(steps);
  if (of_next == next.columns.end() || of_history == history.columns.end()) return history.reports;
  const auto begin = std::find_if(of_next->second.values.begin(), of_next->second.values.end(),
                                  [](double value) { return std::isfinite(value); });
  if (begin == of_next->second.values.end()) return history.reports;
  const MetricColumn& own = of_history->second;
  for (std::size_t i = 0; i < own.values.size(); ++i) {
    if (own.values[i] >= *begin) return own.reports[i];
  }
  return history.reports;
}

void Continue(std::vector<ProcessHistory>& all, ProcessHistory more, const std::string& resource) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.role == more.role; });
  if (same == all.end()) return all.push_back(std::move(more));
  same->history.KeepFirst(ReportsBefore(same->history, more.history, resource));
  std::erase_if(same->attempt_starts, [&](std::uint32_t start) { return start >= same->history.reports; });
  for (const std::uint32_t start : more.attempt_starts) same->attempt_starts.push_back(same->history.reports + start);
  same->history.Join(more.history);
}

}  // namespace

std::vector<ProcessHistory> ReadTrialHistory(const std::vector<std::string>& run_dirs, const MetricsChoice& in_logs,
                                             const std::string& resource, bool over) {
  std::vector<ProcessHistory> all;
  std::vector<ProcessHistory> logs;
  for (const std::string& run_dir : run_dirs) {
    for (ProcessHistory& process : ReadRoleHistories(run_dir)) Continue(all, std::move(process), resource);
    auto in_log = ReadLogHistory(in_logs, resource, run_dir, over || &run_dir != &run_dirs.back());
    if (in_log) Continue(logs, *std::move(in_log), resource);
  }
  all.insert(all.end(), std::make_move_iterator(logs.begin()), std::make_move_iterator(logs.end()));
  return all;
}

}  // namespace muster
