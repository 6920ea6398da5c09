#include "run/report/startup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

// From `taken`, pairs of seconds and index.
std::optional<StartupStep> StepOf(std::vector<std::pair<double, std::uint32_t>> taken) {
  if (taken.empty()) return std::nullopt;
  // Of several slowest processes, the first one is named.
  std::sort(taken.begin(), taken.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
  return StartupStep{taken.size(), taken[(taken.size() - 1) / 2].first, taken.back().first, taken.back().second};
}

RoleStartup StartupOf(const Plan& plan, const RunHistory& history, std::uint32_t role) {
  RoleStartup startup;
  startup.role = plan.roles[role].name;
  std::vector<std::pair<double, std::uint32_t>> spawn, ready, output;
  std::optional<MonotonicNs> first;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const AttemptHistory& attempt = history.attempts[id].front();
    if (plan.processes[id].role != role || !attempt.ordered) continue;
    ++startup.processes;
    const std::uint32_t index = plan.processes[id].index;
    first = std::min(first.value_or(attempt.ordered->on_head), attempt.ordered->on_head);
    if (!attempt.started) continue;
    const auto since_start = [&](MonotonicNs at) { return SecondsBetween(attempt.started->at, at); };
    spawn.emplace_back(SecondsBetween(attempt.ordered->on_head, history.TimeOf(attempt, *attempt.started)), index);
    if (attempt.ready) ready.emplace_back(since_start(attempt.ready->at), index);
    if (attempt.first_output) output.emplace_back(since_start(*attempt.first_output), index);
  }
  if (first) startup.ordered = SecondsBetween(history.began->on_head, *first);
  startup.spawn = StepOf(std::move(spawn));
  startup.ready = StepOf(std::move(ready));
  startup.first_output = StepOf(std::move(output));
  return startup;
}

std::string Cell(const std::optional<StartupStep>& step, const RoleStartup& role) {
  if (!step) return "-";
  if (role.processes == 1) return DurationText(step->slowest);
  return fmt::format("{} ({}.{})", DurationText(step->slowest), Printable(role.role), step->index);
}

}  // namespace

Startup MakeStartup(const Plan& plan, const RunHistory& history) {
  Startup startup;
  if (!history.began) return startup;
  const Recorded<RunBegan>& began = *history.began;
  startup.evaluate = InSeconds(began.evaluate_ns);
  startup.plan = InSeconds(began.plan_ns - std::min(began.plan_ns, began.evaluate_ns));
  std::optional<MonotonicNs> prepared;
  for (const auto& [number, machine] : history.machines) {
    if (machine.agent) prepared = std::max(prepared.value_or(0), machine.agent->on_head);
  }
  if (prepared) startup.agent = SecondsBetween(began.on_head, *prepared);
  if (!history.activations.empty()) {
    const MonotonicNs activated = history.activations.back().on_head;
    if (prepared) startup.activate = SecondsBetween(*prepared, activated);
    prepared = activated;
  }
  if (history.devices_awaited && history.bound) {
    startup.wait = SecondsBetween(history.devices_awaited->on_head, history.bound->on_head);
  }
  std::optional<MonotonicNs> first_order;
  for (const std::vector<AttemptHistory>& attempts : history.attempts) {
    const auto& ordered = attempts.front().ordered;
    if (ordered) first_order = std::min(first_order.value_or(ordered->on_head), ordered->on_head);
  }
  if (prepared && first_order) startup.bind = std::max(SecondsBetween(*prepared, *first_order) - startup.wait, 0.0);
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) {
    RoleStartup of_role = StartupOf(plan, history, role);
    if (of_role.processes > 0) startup.roles.push_back(std::move(of_role));
  }
  return startup;
}

std::string StartupText(const Startup& startup) {
  if (startup.roles.empty()) return {};
  std::string text = "  start-up  ";
  if (startup.evaluate > 0) text += fmt::format("evaluate {}, ", DurationText(startup.evaluate));
  text += fmt::format("plan {}, agent {}, ", DurationText(startup.plan), DurationText(startup.agent));
  if (startup.activate > 0) text += fmt::format("activate {}, ", DurationText(startup.activate));
  if (startup.wait > 0) text += fmt::format("wait for devices {}, ", DurationText(startup.wait));
  text += fmt::format("bind {}; slowest process of each role:\n", DurationText(startup.bind));
  std::vector<std::vector<std::string>> rows = {{"role", "ordered at", "spawn", "ready", "first output"}};
  for (const RoleStartup& role : startup.roles) {
    rows.push_back({Printable(role.role), DurationText(role.ordered), Cell(role.spawn, role), Cell(role.ready, role),
                    Cell(role.first_output, role)});
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::vector<bool> filled(widths.size(), false);  // columns without values are omitted
  for (std::size_t r = 1; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) filled[i] = filled[i] || rows[r][i] != "-";
  }
  for (const auto& row : rows) {
    std::string line = "           ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (filled[i]) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace muster
