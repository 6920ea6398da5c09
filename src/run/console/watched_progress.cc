#include "run/console/watched_progress.h"

#include <variant>

#include "base/system/clock.h"
#include "base/values/overloaded.h"
#include "base/values/units.h"
#include "run/directory/newest_metrics.h"

namespace muster {

WatchedProgress::WatchedProgress(const Plan& plan)
    : plan_(plan),
      states_(plan.processes.size(), State::kWaiting),
      restarts_(plan.roles.size()),
      phase_(PhaseName(Phase::kPreparing)) {}

void WatchedProgress::Take(const JournalRecord& record) {
  std::visit(Overloaded{
                 [&](const RunBegan&) { began_ns_ = ParseUtc(record.wall).value_or(0); },
                 [&](const PhaseChanged& e) { phase_ = PhaseName(e.to); },
                 [&](const StartOrdered& e) {
                   states_[e.process] = State::kRunning;
                   if (e.attempt > 0) ++restarts_[plan_.processes[e.process].role];
                 },
                 [&](const ProcessExited& e) { states_[e.process] = State::kEnded; },
                 [&](const SpawnFailed& e) { states_[e.process] = State::kEnded; },
                 [&](const RestartPlanned& e) { states_[e.process] = State::kWaiting; },
                 [](const auto&) {},
             },
             record.entry);
}

Progress WatchedProgress::Now(const std::string& run_dir, std::uint64_t now_ns) const {
  Progress progress;
  progress.phase = phase_;
  if (began_ns_ != 0 && now_ns > began_ns_) progress.seconds = InSeconds(now_ns - began_ns_);
  const RoleReports reports = NewestReports(run_dir);
  for (std::size_t role = 0; role < plan_.roles.size(); ++role) {
    Progress::Role& row = progress.roles.emplace_back();
    row.count.name = plan_.roles[role].name;
    row.count.restarts = restarts_[role];
    if (const auto report = reports.find(row.count.name); report != reports.end()) {
      row.metrics = MetricsText(report->second);
    }
  }
  for (std::size_t process = 0; process < states_.size(); ++process) {
    RoleStatus& count = progress.roles[plan_.processes[process].role].count;
    const State state = states_[process];
    ++(state == State::kWaiting ? count.waiting : state == State::kRunning ? count.running : count.ended);
  }
  return progress;
}

}  // namespace muster
