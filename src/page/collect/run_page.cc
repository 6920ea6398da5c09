#include "page/collect/run_page.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "muster/plan.h"
#include "page/collect/curves.h"
#include "page/collect/run_lanes.h"
#include "page/collect/run_plan.h"
#include "page/collect/run_usage.h"
#include "run/directory/process_output.h"
#include "run/journal/journal.h"
#include "run/metrics/log_patterns.h"
#include "run/report/report.h"
#include "sweep/index/trial_choice.h"

namespace muster {
namespace {

constexpr std::size_t kMostLogs = 64;
constexpr std::size_t kMostCurveProcesses = 256;

std::string KeyOf(const std::string& role, std::uint32_t index) { return fmt::format("0:{}.{}", role, index); }

Value TextsValue(const std::vector<std::string>& texts) {
  Value::List list;
  for (const std::string& text : texts) list.push_back(TextValue(text));
  return Value(std::move(list));
}

void AddProcesses(const Report& report, PageContent& page) {
  for (const ProcessReport& process : report.processes) {
    AddRow(page, KeyOf(process.role, process.index));
    const auto fact = [&](const char* name, Value value) { Put(page, name, "fact", std::move(value)); };
    fact("process", TextValue(fmt::format("{}.{}", process.role, process.index)));
    fact("role", TextValue(process.role));
    fact("rank", process.rank ? CountValue(*process.rank) : Value());
    fact("host", process.host.empty() ? Value() : TextValue(process.host));
    std::string devices;
    for (const std::string& device : process.devices) devices += (devices.empty() ? "" : ",") + device;
    fact("devices", devices.empty() ? Value() : TextValue(devices));
    fact("state", TextValue(process.verdict));
    fact("attempts", CountValue(process.attempts.size()));
    const bool ended = !process.attempts.empty() && !process.attempts.back().ended_at.empty();
    if (!ended) {
      for (const char* name : {"exit", "cpu", "max_rss"}) fact(name, Value());
      continue;
    }
    const AttemptReport& last = process.attempts.back();
    fact("exit", !last.signal.empty() ? TextValue(last.signal)
                 : last.exit_code     ? CountValue(*last.exit_code)
                                      : Value());
    fact("cpu", Value(last.user_seconds + last.system_seconds));
    fact("max_rss", Value(static_cast<double>(last.max_rss_kib) / 1024));
  }
  for (const auto& [name, label] : {std::pair{"cpu", "CPU time"}, std::pair{"max_rss", "max RSS, MiB"}}) {
    ColumnOf(page, name, "fact").label = label;
  }
  ColumnOf(page, "cpu", "fact").seconds = true;
  ColumnOf(page, "devices", "fact").list = true;
}

// `first`: the metric that is shown first, if it was reported. Returns how many further processes have metrics.
std::size_t AddCurves(const std::string& run_dir, bool over, const std::string& first, PageContent& page) {
  std::set<std::pair<std::string, std::uint32_t>> reporting;
  for (const MetricsFileName& file : MetricsFiles(run_dir)) reporting.emplace(file.role, file.index);
  auto processes = ReadMetricHistories(run_dir, kMostCurveProcesses);
  if (auto log = ReadOwnLogHistory(run_dir, over, {})) processes.push_back(*std::move(log));
  std::set<std::string> metrics;
  for (const ProcessHistory& process : processes) {
    for (const auto& [name, unused] : process.history.columns) metrics.insert(name);
  }
  CurveReader reader(page, CurvePoints(processes.size() * std::max<std::size_t>(metrics.size(), 1)), "",
                     metrics.contains(first)    ? first
                     : metrics.contains("loss") ? "loss"
                                                : "");
  for (const ProcessHistory& process : processes) {
    const auto key = std::find(page.keys.begin(), page.keys.end(), KeyOf(process.role, process.index));
    if (key != page.keys.end()) reader.Add(static_cast<std::size_t>(key - page.keys.begin()), process);
  }
  return reporting.size() - std::min(reporting.size(), kMostCurveProcesses);
}

Value FailureValue(const Report& report, const FailureReport& failure) {
  const FailureAnalysis& account = failure.account;
  std::vector<std::string> evidence = account.evidence;
  for (const EvidenceFile& file : report.files) evidence.push_back(FileText(report, file));
  Value::List others;
  for (const FailedGroup& other : account.others) {
    others.emplace_back(Value::Map{{"who", TextValue(MembersText({other.who}))},
                                   {"why", TextValue(other.why)},
                                   {"hint", TextValue(other.error ? other.error->message : other.hint)},
                                   {"lines", TextsValue(other.lines)}});
  }
  Value::List timeline;
  for (const TimelineEntry& entry : account.timeline) {
    timeline.emplace_back(Value::Map{
        {"from", Value(entry.from)}, {"what", TextValue(entry.what)}, {"who", TextValue(MembersText(entry.who))}});
  }
  std::vector<std::string> doubts;
  for (const UncertainOrder& doubt : account.doubts) doubts.push_back(MembersText(doubt.who));
  for (const EarlierSign& sign : account.signs) doubts.push_back(SignText(sign));
  const std::string name = fmt::format("{}.{}", failure.role, failure.index);
  return Value(
      Value::Map{{"key", TextValue(KeyOf(failure.role, failure.index))},
                 {"process", TextValue(failure.rank ? fmt::format("{} (rank {})", name, *failure.rank) : name)},
                 {"host", TextValue(failure.host)},
                 {"why", TextValue(failure.why)},
                 {"after", Value(failure.after_seconds)},
                 {"hint", TextValue(account.hint)},
                 {"error", TextValue(account.error ? account.error->message : "")},
                 {"traceback", TextsValue(account.error ? account.error->traceback : std::vector<std::string>())},
                 {"evidence", TextsValue(evidence)},
                 {"doubts", TextsValue(doubts)},
                 {"log", TextValue(failure.log)},
                 {"lines", TextsValue(failure.last_lines)},
                 {"others", Value(std::move(others))},
                 {"timeline", Value(std::move(timeline))}});
}

// The steps before the first process one after the other, then the slowest process of each step of each role.
Value StartupValue(const Startup& startup) {
  Value::List bars;
  if (startup.roles.empty()) return Value(std::move(bars));
  const auto add = [&](const std::string& name, double from, double seconds, const std::string& role,
                       const std::string& detail) {
    if (seconds <= 0) return;
    bars.emplace_back(Value::Map{{"name", TextValue(name)},
                                 {"from", Value(from)},
                                 {"to", Value(from + seconds)},
                                 {"role", TextValue(role)},
                                 {"detail", TextValue(detail)}});
  };
  double at = -startup.evaluate - startup.plan;
  for (const auto& [name, seconds] :
       {std::pair{"evaluate the recipe", startup.evaluate}, std::pair{"plan", startup.plan},
        std::pair{"connect agents", startup.agent}, std::pair{"activate hosts", startup.activate},
        std::pair{"wait for devices", startup.wait}, std::pair{"ports, files, environments", startup.bind}}) {
    add(name, at, seconds, "", "");
    at += seconds;
  }
  for (const RoleStartup& role : startup.roles) {
    const auto step = [&](const char* what, const std::optional<StartupStep>& one, double from) {
      if (!one) return;
      add(role.role + ": " + what, from, one->slowest, role.role,
          one->processes > 1 ? fmt::format("slowest {}.{}", role.role, one->index) : "");
    };
    step("start", role.spawn, role.ordered);
    const double started = role.ordered + (role.spawn ? role.spawn->slowest : 0);
    step("ready", role.ready, started);
    step("first output", role.first_output, started);
  }
  return Value(std::move(bars));
}

// The last lines of the processes that failed first, of one of each role, and of others as long as there is room.
Value LogsOf(const Plan& plan, const Report& report, int folder) {
  std::vector<ProcessId> order;
  std::set<std::string> roles;
  const auto add = [&](auto wanted) {
    for (ProcessId id = 0; id < report.processes.size(); ++id) {
      const ProcessReport& process = report.processes[id];
      if (order.size() >= kMostLogs || process.attempts.empty()) continue;
      if (std::find(order.begin(), order.end(), id) == order.end() && wanted(process)) order.push_back(id);
    }
  };
  add([](const ProcessReport& process) { return process.verdict == "origin"; });
  add([&](const ProcessReport& process) { return roles.insert(process.role).second; });
  add([](const ProcessReport&) { return true; });
  Value::List logs;
  for (const ProcessId id : order) {
    const ProcessReport& process = report.processes[id];
    const std::string path = LogPath(plan, id, process.attempts.back().attempt);
    std::vector<std::string> lines = LastLines(folder, path);
    for (const std::string& unreadable : report.unreadable_logs) {
      if (unreadable.starts_with(path + ": "))
        lines = {"(it cannot be read: " + unreadable.substr(path.size() + 2) + ")"};
    }
    if (lines.empty()) continue;
    logs.emplace_back(Value::Map{{"key", TextValue(KeyOf(process.role, process.index))},
                                 {"process", TextValue(fmt::format("{}.{}", process.role, process.index))},
                                 {"path", TextValue(path)},
                                 {"lines", TextsValue(lines)}});
  }
  return Value(std::move(logs));
}

Value RestartsValue(const Report& report, const std::vector<JournalRecord>& records) {
  Value::List restarts;
  for (const JournalRecord& record : records) {
    const auto* restart = std::get_if<RestartPlanned>(&record.entry);
    if (restart == nullptr) continue;
    const ProcessReport& process = report.processes[restart->process];
    restarts.emplace_back(Value::Map{{"scope", TextValue(restart->scope)},
                                     {"process", TextValue(fmt::format("{}.{}", process.role, process.index))},
                                     {"at", Value(InSeconds(record.at - records.front().at))},
                                     {"why", TextValue(restart->why)}});
  }
  return Value(std::move(restarts));
}

}  // namespace

Result<void> AddRun(const std::string& run_dir, PageContent& page) {
  const auto report = MakeReport(run_dir);
  if (!report) return Fail(report.error());
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Fail(recorded.error());
  const Plan& plan = *recorded->plan;
  const std::vector<JournalRecord>& records = recorded->journal.records();
  AddProcesses(*report, page);
  const std::optional<TrialOfRun> trial = FindTrialOfRun(run_dir);
  const std::size_t without_curves =
      AddCurves(run_dir, report->outcome != "running", trial ? trial->objective : "", page);
  RunLanes lanes = LanesOf(plan, recorded->journal, *report);
  const std::string began = records.empty() ? "" : records.front().wall;
  page.live = report->outcome == "running";
  page.sources.emplace_back(Value::Map{{"kind", Value("run")},
                                       {"name", TextValue(trial ? trial->name : report->name)},
                                       {"id", TextValue(report->run)},
                                       {"dir", TextValue(report->run_dir)},
                                       {"state", TextValue(report->outcome)}});
  std::set<std::string> hosts;
  for (const ProcessReport& process : report->processes) {
    if (!process.host.empty()) hosts.insert(process.host);
  }
  page.run =
      Value(Value::Map{{"outcome", TextValue(report->outcome)},
                       {"exit_code", Value(std::int64_t{report->exit_code})},
                       {"why", TextValue(report->why)},
                       {"doc", TextValue(plan.doc)},
                       {"sweep_dir", trial ? TextValue(trial->sweep_dir) : Value()},
                       {"began", TextValue(began)},
                       {"seconds", Value(lanes.seconds)},
                       {"hosts", TextsValue({hosts.begin(), hosts.end()})},
                       {"checkpoint", TextValue(report->checkpoint)},
                       {"git", TextValue(GitText(report->code))},
                       {"tags", TextsValue(report->tags)},
                       {"plan_id", TextValue(report->plan)},
                       {"id", TextValue(report->run)},
                       {"dir", TextValue(report->run_dir)},
                       {"without_curves", CountValue(without_curves)},
                       {"damage", TextValue(report->journal_damage)},
                       {"restarts", RestartsValue(*report, records)},
                       {"failure", report->first_failure ? FailureValue(*report, *report->first_failure) : Value()},
                       {"startup", StartupValue(report->startup)},
                       {"lanes", Value(std::move(lanes.lanes))},
                       {"phases", Value(std::move(lanes.phases))},
                       {"marks", Value(std::move(lanes.marks))},
                       {"usage", UsageValue(plan, recorded->folder.get())},
                       {"plan", PlanValue(plan, recorded->folder.get(), report->run)},
                       {"logs", LogsOf(plan, *report, recorded->folder.get())}});
  return {};
}

}  // namespace muster
