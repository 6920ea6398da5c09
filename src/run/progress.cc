#include "run/progress.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/columns.h"
#include "base/shell_quote.h"
#include "base/units.h"
#include "run/last_lines.h"
#include "run/metrics_line.h"
#include "run/metrics_report.h"
#include "run/run_status.h"
#include "run/start_specs.h"

namespace muster {
namespace {

std::string LastLineOf(const Plan& plan, ProcessId process, std::uint32_t attempt, int run_folder) {
  constexpr std::size_t kWindow = 4U << 10;
  std::vector<std::string> lines = LastLines(run_folder, LogPath(plan, process, attempt), 1, kWindow);
  return lines.empty() ? std::string() : std::move(lines.back());
}

// "step 100, loss 0.25": what the first process of the role reported last, what counts steps first. The whole file is
// not read: values that were reported long ago are not news.
std::string NewestMetrics(const Plan& plan, const Supervisor& supervisor, std::uint32_t role, int run_folder) {
  constexpr std::size_t kWindow = 4U << 10;
  constexpr std::size_t kMostValues = 4;
  const auto first = std::find_if(plan.processes.begin(), plan.processes.end(),
                                  [role](const Process& process) { return process.role == role; });
  if (first == plan.processes.end()) return {};
  const auto id = static_cast<ProcessId>(first - plan.processes.begin());
  const std::vector<std::string> lines =
      LastLines(run_folder, MetricsPath(plan, id, supervisor.attempt(id)), 1, kWindow);
  const auto values = lines.empty() ? std::nullopt : MetricsLine(lines.back());
  if (!values) return {};
  std::string text;
  std::size_t shown = 0;
  const auto add = [&](const std::string& name, const Value& value) {
    if (!value.IsNumber() || shown++ >= kMostValues) return;
    text += fmt::format("{}{} {:.5g}", text.empty() ? "" : ", ", name, value.Number());
  };
  const auto counts = [](const std::string& name) { return name == "step" || name == "epoch" || name == "iteration"; };
  for (const auto& [name, value] : *values) {
    if (counts(name)) add(name, value);
  }
  for (const auto& [name, value] : *values) {
    if (!counts(name)) add(name, value);
  }
  return Printable(text);
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

Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const ProcessRoll& roll, int run_folder,
                     MonotonicNs began_at, MonotonicNs now) {
  Progress progress;
  progress.phase = PhaseName(supervisor.phase());
  progress.seconds = static_cast<double>(now - began_at) / 1e9;
  for (RoleStatus& status : RoleStatuses(plan, supervisor)) {
    const auto role = static_cast<std::uint32_t>(progress.roles.size());
    Progress::Role& shown = progress.roles.emplace_back();
    shown.count = std::move(status);
    shown.metrics = NewestMetrics(plan, supervisor, role, run_folder);
    const auto oddest = roll.OddestOf(plan, supervisor, role);
    if (!oddest) continue;
    const std::string line = LastLineOf(plan, *oddest, supervisor.attempt(*oddest), run_folder);
    if (!line.empty()) shown.last_line = ProcessName(plan, plan.processes[*oddest]) + ": " + line;
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
