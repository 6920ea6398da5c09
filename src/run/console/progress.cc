#include "run/console/progress.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/columns.h"
#include "base/values/units.h"
#include "run/directory/last_lines.h"
#include "run/directory/log_path.h"
#include "run/directory/newest_metrics.h"
#include "run/report/metrics_report.h"
#include "run/supervise/run_status.h"

namespace muster {
namespace {

std::string LastLineOf(const Plan& plan, ProcessId process, std::uint32_t attempt, int run_folder) {
  constexpr std::size_t kWindow = 4U << 10;
  std::vector<std::string> lines = LastLines(run_folder, LogPath(plan, process, attempt), 1, kWindow);
  return lines.empty() ? std::string() : std::move(lines.back());
}

// The last metrics reported by the first process of the role.
std::string NewestMetrics(const Plan& plan, const Supervisor& supervisor, std::uint32_t role, int run_folder) {
  const auto first = std::find_if(plan.processes.begin(), plan.processes.end(),
                                  [role](const Process& process) { return process.role == role; });
  if (first == plan.processes.end()) return {};
  const auto id = static_cast<ProcessId>(first - plan.processes.begin());
  const auto values = NewestReport(run_folder, MetricsPath(plan, id, supervisor.attempt(id)));
  return values ? MetricsText(*values) : std::string();
}

std::string RoleRow(const Progress::Role& role, const Progress& progress, std::size_t name_columns) {
  const RoleStatus& count = role.count;
  std::string row = fmt::format("{}  {} running", InColumns(count.name, name_columns), count.running);
  if (count.waiting > 0) row += fmt::format(", {} waiting", count.waiting);
  if (count.ended > 0) row += fmt::format(", {} ended", count.ended);
  if (count.restarts > 0) row += fmt::format(", {} restart{}", count.restarts, count.restarts == 1 ? "" : "s");
  row += fmt::format("  {}", DurationText(progress.seconds));
  if (progress.phase != "running") row += " " + progress.phase;
  if (!role.metrics.empty()) row += "  " + role.metrics;
  if (!role.last_line.empty()) row += "  " + role.last_line;
  return row;
}

}  // namespace

Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const RunProcessTable& process_table,
                     int run_folder, MonotonicNs began_at, MonotonicNs now) {
  Progress progress;
  progress.phase = PhaseName(supervisor.phase());
  progress.seconds = InSeconds(now - began_at);
  for (RoleStatus& status : RoleStatuses(plan, supervisor)) {
    const auto role = static_cast<std::uint32_t>(progress.roles.size());
    Progress::Role& shown = progress.roles.emplace_back();
    shown.count = std::move(status);
    shown.metrics = NewestMetrics(plan, supervisor, role, run_folder);
    const auto strongest = process_table.StrongestOutlier(plan, supervisor, role);
    if (!strongest) continue;
    const std::string line = LastLineOf(plan, *strongest, supervisor.attempt(*strongest), run_folder);
    if (!line.empty()) shown.last_line = ProcessName(plan, plan.processes[*strongest]) + ": " + line;
  }
  return progress;
}

std::vector<std::string> ProgressRows(const Progress& progress, std::size_t columns, std::size_t most) {
  // A character in the last column would make some terminals wrap.
  const std::size_t room = columns > 1 ? columns - 1 : 1;
  std::size_t name_columns = 0;
  for (const Progress::Role& role : progress.roles) name_columns = std::max(name_columns, Columns(role.count.name));
  std::vector<std::string> rows;
  for (const Progress::Role& role : progress.roles) {
    std::string row = RoleRow(role, progress, std::min(name_columns, room / 3));
    const std::size_t left = progress.roles.size() - rows.size();
    if (rows.size() + 1 >= most && left > 1) row = fmt::format("… and {} more roles", left);
    row = InColumns(row, room);
    rows.push_back(row.substr(0, row.find_last_not_of(' ') + 1));
    if (rows.size() >= most) break;
  }
  return rows;
}

}  // namespace muster
