#include "run/console/watch.h"

#include <type_traits>
#include <utility>
#include <variant>

#include <boost/asio/executor_work_guard.hpp>
#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "metrics/metric_history.h"
#include "plan/text/plan_json.h"
#include "run/control/journal_feed.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "run/loop/output.h"
#include "run/report/report.h"
#include "wire/files/run_layout.h"

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
                 [](const auto&) {},  // counts of states change with the start and the end of attempts alone
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

namespace {

constexpr int kLost = 3;

template <class E, class Variant>
struct IsOneOf;
template <class E, class... Members>
struct IsOneOf<E, std::variant<Members...>> : std::disjunction<std::is_same<E, Members>...> {};
template <class E>
concept IsEvent = IsOneOf<E, Event>::value;

// Shows a record as the session shows its event, which shows no other facts, either.
void Show(Console& console, const JournalRecord& record, const std::string& run_dir) {
  std::visit(Overloaded{
                 [&](const RunBegan& e) { console.Began(e.run_id, e.plan_id, run_dir); },
                 [&](const PreparationFailed& e) { console.Warn(e.why); },
                 [&](const FirstFailure& e) { console.Failed(e); },
                 [&](const FailureTraced& e) {
                   console.Failed({e.process, e.attempt});
                 },
                 [&](const RestartPlanned& e) { console.Restarting(e); },
                 [&](const DumpOrdered& e) { console.Dumping(e); },
                 [&](const LimitPassed& e) { console.Passed(e); },
                 [&](const StopRequested& e) {
                   console.Warn(e.times <= 1 ? "the run was asked to stop" : "the run was asked to end at once");
                 },
                 [&](const IsEvent auto& e) { console.Saw(Event(e)); },
                 [](const auto&) {},
             },
             record.entry);
}

int ShowLines(const std::string& run_dir, int out, const WatchBegun& begun) {
  boost::asio::io_context io;
  JournalFeed feed(io, run_dir);
  std::shared_ptr<void> of_caller;
  if (begun)
    of_caller = begun(
        io, [&feed] { feed.GiveUp(); }, [](const std::string&) {});
  Output lines(io, out);
  int code = kLost;
  while (const std::optional<JournalRecord> record = feed.Next()) {
    if (const auto* ended = std::get_if<RunEnded>(&record->entry)) code = ended->exit_code;
    lines.Write(JournalLine(*record));
    if (lines.gone()) return code;
  }
  io.restart();
  while (!lines.empty() && io.run_one() > 0) {
  }
  return code;
}

}  // namespace

Result<int> WatchRun(const std::string& run_dir, const ConsoleOptions& options, bool json, const WatchBegun& begun) {
  const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Result<std::string> bytes = ReadPlanJson(folder.get(), run_dir);
  if (!bytes) return Fail(bytes.error());
  if (json) return ShowLines(run_dir, options.out, begun);
  const Result<Plan> plan = PlanFromJson(*bytes);
  if (!plan) return Fail(plan.error());
  HideSecretsOf(*plan);

  boost::asio::io_context io;
  Console console(io, options, *plan);
  JournalFeed feed(io, run_dir);
  PlanFit fit(*plan);
  WatchedProgress progress(*plan);
  std::shared_ptr<void> of_caller;
  if (begun)
    of_caller = begun(
        io, [&feed] { feed.GiveUp(); }, [&console](const std::string& text) { console.Warn(text); });
  const UniqueFd logs(options.output ? ::open(kLogsEntry.In(run_dir).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  if (logs) console.Follow(logs.get(), kLogsEntry.In(run_dir), IsHeldElsewhere(run_dir));
  if (IsRunLive(run_dir)) console.ShowProgress([&] { return progress.Now(run_dir, WallNowNs()); });
  int code = kLost;
  bool well = false;
  while (const std::optional<JournalRecord> record = feed.Next()) {
    if (!fit.Take(*record)) continue;
    progress.Take(*record);
    Show(console, *record, run_dir);
    if (const auto* ended = std::get_if<RunEnded>(&record->entry)) {
      code = ended->exit_code;
      well = ended->cause == Cause::kNone;
    }
  }
  const Result<Report> report = MakeReport(run_dir);
  if (!report) return Fail(report.error());
  io.restart();
  const auto until_shown = boost::asio::make_work_guard(io);
  console.Finish(ReportText(*report, console.ViewOfReport(well)), well, [&io] { io.stop(); });
  io.run();
  return code;
}

}  // namespace muster
