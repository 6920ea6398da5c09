#include "run/report/startup.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

// The first start of a process. The times `on_…` are by its host's clock.
struct FirstStart {
  std::optional<MonotonicNs> ordered;  // on the head's clock, as `started` is
  std::optional<MonotonicNs> started;
  std::optional<MonotonicNs> on_started;
  std::optional<MonotonicNs> on_ready;
  std::optional<MonotonicNs> on_output;
};

// From `taken`, pairs of seconds and index.
std::optional<StartupStep> StepOf(std::vector<std::pair<double, std::uint32_t>> taken) {
  if (taken.empty()) return std::nullopt;
  // Of several slowest processes, the first one is named.
  std::sort(taken.begin(), taken.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
  return StartupStep{taken.size(), taken[(taken.size() - 1) / 2].first, taken.back().first, taken.back().second};
}

class Walk {
 public:
  Walk(const Plan& plan, const CheckedJournal& journal, const HostClocks& clocks)
      : plan_(plan), clocks_(clocks), hosts_(plan, journal), starts_(plan.processes.size()) {
    for (const JournalRecord& record : journal.records()) Take(record);
  }

  Startup Make() const {
    Startup startup;
    if (!began_) return startup;
    startup.evaluate = InSeconds(before_.evaluate_ns);
    startup.plan = InSeconds(before_.plan_ns - std::min(before_.plan_ns, before_.evaluate_ns));
    if (connected_) startup.agent = SecondsBetween(*began_, *connected_);
    if (connected_ && activated_) startup.activate = SecondsBetween(*connected_, *activated_);
    const std::optional<MonotonicNs> prepared = activated_ ? activated_ : connected_;
    if (awaited_ && bound_) startup.wait = SecondsBetween(*awaited_, *bound_);
    if (prepared && first_order_) startup.bind = std::max(SecondsBetween(*prepared, *first_order_) - startup.wait, 0.0);
    for (std::uint32_t role = 0; role < plan_.roles.size(); ++role) {
      RoleStartup of_role = OfRole(role);
      if (of_role.processes > 0) startup.roles.push_back(std::move(of_role));
    }
    return startup;
  }

 private:
  RoleStartup OfRole(std::uint32_t role) const {
    RoleStartup startup;
    startup.role = plan_.roles[role].name;
    std::vector<std::pair<double, std::uint32_t>> spawn, ready, output;
    std::optional<MonotonicNs> first;
    for (ProcessId id = 0; id < starts_.size(); ++id) {
      const FirstStart& start = starts_[id];
      if (plan_.processes[id].role != role || !start.ordered) continue;
      ++startup.processes;
      const std::uint32_t index = plan_.processes[id].index;
      if (!first || *start.ordered < *first) first = start.ordered;
      if (!start.started) continue;
      spawn.emplace_back(SecondsBetween(*start.ordered, *start.started), index);
      if (start.on_ready) ready.emplace_back(SecondsBetween(*start.on_started, *start.on_ready), index);
      if (start.on_output) output.emplace_back(SecondsBetween(*start.on_started, *start.on_output), index);
    }
    if (first) startup.ordered = SecondsBetween(*began_, *first);
    startup.spawn = StepOf(std::move(spawn));
    startup.ready = StepOf(std::move(ready));
    startup.first_output = StepOf(std::move(output));
    return startup;
  }

  // Null for a later start.
  FirstStart* FirstOf(ProcessId process, std::uint32_t attempt) { return attempt == 0 ? &starts_[process] : nullptr; }

  void Take(const JournalRecord& record) {
    const MonotonicNs at = record.at;
    std::visit(Overloaded{
                   [&](const RunBegan& e) {
                     before_ = e;
                     began_ = at;
                   },
                   [&](const AgentConnected&) { connected_ = at; },
                   [&](const HostActivated&) { activated_ = at; },
                   [&](const DevicesAwaited&) { awaited_ = awaited_.value_or(at); },
                   [&](const PlanBound&) { bound_ = at; },
                   [&](const StartOrdered& e) {
                     FirstStart* start = FirstOf(e.process, e.attempt);
                     if (start == nullptr) return;
                     start->ordered = at;
                     first_order_ = first_order_.value_or(at);
                   },
                   [&](const ProcessStarted& e) {
                     FirstStart* start = FirstOf(e.process, e.attempt);
                     if (start == nullptr) return;
                     start->started = OnHead({hosts_.Of(e.process, e.attempt), e.at, 0}, clocks_).value_or(at);
                     start->on_started = e.at;
                   },
                   [&](const ProcessReady& e) {
                     if (FirstStart* start = FirstOf(e.process, e.attempt)) start->on_ready = e.at;
                   },
                   [&](const FirstOutput& e) {
                     if (FirstStart* start = FirstOf(e.process, e.attempt)) start->on_output = e.at;
                   },
                   [](const auto&) {},
               },
               record.entry);
  }

  const Plan& plan_;
  const HostClocks& clocks_;
  AttemptHosts hosts_;
  std::vector<FirstStart> starts_;
  RunBegan before_;
  std::optional<MonotonicNs> began_;
  std::optional<MonotonicNs> connected_;
  std::optional<MonotonicNs> activated_;
  std::optional<MonotonicNs> awaited_;
  std::optional<MonotonicNs> bound_;
  std::optional<MonotonicNs> first_order_;
};

std::string Cell(const std::optional<StartupStep>& step, const RoleStartup& role) {
  if (!step) return "-";
  if (role.processes == 1) return DurationText(step->slowest);
  return fmt::format("{} ({}.{})", DurationText(step->slowest), Printable(role.role), step->index);
}

}  // namespace

Startup MakeStartup(const Plan& plan, const CheckedJournal& journal, const HostClocks& clocks) {
  return Walk(plan, journal, clocks).Make();
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
