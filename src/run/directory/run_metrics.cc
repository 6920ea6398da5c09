#include "run/directory/run_metrics.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "metrics/log_patterns.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_files.h"

namespace muster {
namespace {

std::optional<Plan> PlanIn(const std::string& run_dir) {
  const auto folder = OpenFolder(AT_FDCWD, run_dir);
  if (!folder) return std::nullopt;
  const auto json = ReadPlanJson(folder->get(), run_dir);
  if (!json) return std::nullopt;
  auto plan = PlanFromJson(*json);
  if (!plan || plan->processes.empty()) return std::nullopt;
  return *std::move(plan);
}

}  // namespace

std::string LoggingProcessOf(const std::string& run_dir, const LogMetrics& choice) {
  const auto plan = PlanIn(run_dir);
  if (!plan) return {};
  const auto process = LoggingProcess(*plan, choice);
  return process ? ProcessName(*plan, plan->processes[*process]) : std::string();
}

std::optional<ProcessHistory> ReadOwnLogHistory(const std::string& run_dir, bool over,
                                                const std::vector<ProcessHistory>& reported) {
  const auto plan = PlanIn(run_dir);
  if (!plan || plan->metrics.patterns.empty()) return std::nullopt;
  const auto process = LoggingProcess(*plan, plan->metrics);
  if (!process) return std::nullopt;
  const Process& logging = plan->processes[*process];
  auto found =
      ReadLogHistory(plan->metrics, StepMetric(plan->metrics.patterns), run_dir, ProcessName(*plan, logging), over);
  if (!found || found->history.empty()) return std::nullopt;
  found->role = plan->roles[logging.role].name;
  found->index = logging.index;
  const bool taken = std::any_of(reported.begin(), reported.end(), [&](const ProcessHistory& one) {
    return one.role == found->role && one.index == found->index;
  });
  if (taken) found->role += ".log";
  return found;
}

std::vector<ProcessHistory> ReadContinuedHistory(const std::vector<std::string>& run_dirs, const LogMetrics& in_logs,
                                                 const std::string& resource, bool over) {
  std::vector<ProcessHistory> all;
  std::vector<ProcessHistory> logs;
  for (const std::string& run_dir : run_dirs) {
    for (ProcessHistory& process : ReadRoleHistories(run_dir)) ContinueHistory(all, std::move(process), resource);
    const std::string logging = in_logs.patterns.empty() ? std::string() : LoggingProcessOf(run_dir, in_logs);
    if (logging.empty()) continue;
    auto in_log = ReadLogHistory(in_logs, resource, run_dir, logging, over || &run_dir != &run_dirs.back());
    if (in_log) ContinueHistory(logs, *std::move(in_log), resource);
  }
  all.insert(all.end(), std::make_move_iterator(logs.begin()), std::make_move_iterator(logs.end()));
  return all;
}

}  // namespace muster
