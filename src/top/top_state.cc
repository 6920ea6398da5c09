#include "top/top_state.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "muster/value.h"

namespace muster {
namespace {

std::string EndText(const std::optional<std::int32_t>& exit_code, const std::string& signal,
                    const std::string& spawn_stage) {
  if (!spawn_stage.empty()) return "not started";
  if (!signal.empty()) return signal;
  return exit_code ? fmt::format("exit {}", *exit_code) : "lost";
}

template <class Source>
TopProcess& AddProcess(TopState& state, const Source& from) {
  TopProcess& process = state.processes.emplace_back();
  process.role = Printable(from.role);
  process.index = from.index;
  process.name = fmt::format("{}.{}", process.role, from.index);
  process.rank = from.rank;
  process.host = Printable(from.host);
  return process;
}

Value OrNull(bool known, Value value) { return known ? std::move(value) : Value(); }

}  // namespace

TopState TopStateOf(const ControlAnswer& answer, const std::string& run_dir) {
  TopState state;
  state.name = Printable(answer.status.name);
  state.run = Printable(answer.status.run);
  state.plan = Printable(answer.status.plan);
  state.run_dir = run_dir;
  state.phase = Printable(answer.status.phase);
  state.live = true;
  if (!answer.processes) return state;
  state.seconds = static_cast<double>(answer.processes->ran_ms) / 1000;
  for (const ProcessStatus& from : answer.processes->processes) {
    TopProcess& process = AddProcess(state, from);
    process.attempt = from.attempt;
    process.pid = from.pid;
    process.start_ticks = from.start_ticks;
    if (from.ran_ms > 0 || from.pid != 0) process.seconds = static_cast<double>(from.ran_ms) / 1000;
    process.ended = from.state == "ended";
    process.state = Printable(process.ended ? EndText(from.exit_code, from.signal, from.spawn_stage) : from.state);
    // A process that was stopped before its start has no exit status and did not fail.
    const bool has_end = from.exit_code || !from.signal.empty() || !from.spawn_stage.empty();
    process.bad = process.ended && has_end && from.exit_code != 0;
    if (process.ended && !has_end) process.state = "not started";
  }
  CountRoles(state);
  return state;
}

TopState TopStateOf(const Report& report) {
  TopState state;
  state.name = Printable(report.name);
  state.run = Printable(report.run);
  state.plan = Printable(report.plan);
  state.run_dir = report.run_dir;
  state.phase = report.outcome;
  state.why = Printable(report.why);
  state.seconds = report.timings.total;
  for (const ProcessReport& from : report.processes) {
    TopProcess& process = AddProcess(state, from);
    process.ended = true;
    process.state = "not started";
    if (from.attempts.empty()) continue;
    const AttemptReport& last = from.attempts.back();
    process.attempt = last.attempt;
    process.state = EndText(last.exit_code, last.signal, last.spawn_stage);
    process.bad = last.exit_code != 0;
    const auto began = ParseUtc(last.started_at);
    const auto ended = ParseUtc(last.ended_at);
    if (began && ended && *ended >= *began) process.seconds = InSeconds(*ended - *began);
  }
  CountRoles(state);
  return state;
}

void CountRoles(TopState& state) {
  state.roles.clear();
  std::map<std::string, std::size_t> places;
  std::map<std::pair<std::size_t, std::string>, std::uint64_t> in_state;
  const auto role_of = [&](const TopProcess& process) {
    const auto [found, is_new] = places.emplace(process.role, state.roles.size());
    if (is_new) state.roles.emplace_back().name = process.role;
    return found->second;
  };
  for (const TopProcess& process : state.processes) {
    const std::size_t place = role_of(process);
    TopRole& role = state.roles[place];
    const bool waits = process.state == "waiting" || process.state == "resting";
    ++(process.ended ? role.ended : waits ? role.waiting : role.running);
    role.bad += process.bad ? 1 : 0;
    role.restarts += process.attempt;
    role.cpu += process.cpu.value_or(0);
    role.memory_kib += process.memory_kib.value_or(0);
    ++in_state[{place, process.state}];
  }
  std::vector<std::pair<std::uint64_t, std::string>> usual(state.roles.size());
  for (const auto& [key, count] : in_state) {
    if (count > usual[key.first].first) usual[key.first] = {count, key.second};
  }
  for (TopProcess& process : state.processes) {
    process.outlier = process.bad || process.attempt > 0 || process.state != usual[role_of(process)].second;
  }
}

namespace {

// Null if the role has reported nothing.
Value MetricsValue(const RoleReports& reports, const std::string& role) {
  const auto found = reports.find(role);
  return found == reports.end() ? Value() : Value(found->second);
}

}  // namespace

namespace {

void AddTrial(const TopTrial& trial, Value::Map& row) {
  const auto number = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? Value(*value) : Value();
  };
  row["step"] = number(trial.step);
  row["value"] = number(trial.value);
  row["devices"] = trial.devices;
  Value::List curve;
  for (const double point : trial.curve) curve.push_back(number(point));
  row["curve"] = std::move(curve);
}

}  // namespace

std::string TopJson(const TopState& state) {
  Value::List roles;
  for (const TopRole& role : state.roles) {
    roles.emplace_back(Value::Map{{"role", role.name},
                                  {"running", static_cast<std::int64_t>(role.running)},
                                  {"waiting", static_cast<std::int64_t>(role.waiting)},
                                  {"ended", static_cast<std::int64_t>(role.ended)},
                                  {"bad", static_cast<std::int64_t>(role.bad)},
                                  {"restarts", static_cast<std::int64_t>(role.restarts)},
                                  {"cpu_percent", role.cpu},
                                  {"memory_kib", static_cast<std::int64_t>(role.memory_kib)},
                                  {"metrics", MetricsValue(state.metrics, role.name)}});
  }
  Value::List processes;
  for (const TopProcess& process : state.processes) {
    Value::Map row = {{"name", process.name},
                      {"role", process.role},
                      {"index", std::int64_t{process.index}},
                      {"rank", OrNull(process.rank.has_value(), std::int64_t{process.rank.value_or(0)})},
                      {"host", process.host},
                      {"state", process.state},
                      {"attempt", std::int64_t{process.attempt}},
                      {"pid", OrNull(process.pid != 0, std::int64_t{process.pid})},
                      {"seconds", OrNull(process.seconds.has_value(), process.seconds.value_or(0))},
                      {"cpu_percent", OrNull(process.cpu.has_value(), process.cpu.value_or(0))},
                      {"memory_kib", OrNull(process.memory_kib.has_value(),
                                            static_cast<std::int64_t>(process.memory_kib.value_or(0)))},
                      {"outlier", process.outlier},
                      {"last_line", process.last_line}};
    if (process.trial) AddTrial(*process.trial, row);
    processes.emplace_back(std::move(row));
  }
  Value::Map whole = {{"format", 1},
                      {state.is_sweep ? "sweep" : "run", state.run},
                      {"plan", state.plan},
                      {"name", state.name},
                      {"run_dir", state.run_dir},
                      {"live", state.live},
                      {"phase", state.phase},
                      {"why", OrNull(!state.why.empty(), state.why)},
                      {"seconds", state.seconds},
                      {"roles", std::move(roles)},
                      {"processes", std::move(processes)}};
  if (state.is_sweep) {
    whole["objective"] = OrNull(!state.objective.empty(), state.objective);
    whole["best"] = OrNull(!state.best.empty(), state.best);
    whole["seconds_left"] = OrNull(state.seconds_left.has_value(), state.seconds_left.value_or(0));
  }
  return JsonText(Value(std::move(whole))) + "\n";
}

}  // namespace muster
