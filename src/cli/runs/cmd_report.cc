// How a run or a sweep went, from its folder alone. muster report: the report of a run, the summary of a sweep, or a
// page of several. muster show: the same summary, or the history of one trial.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/own_environment.h"
#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/text_plot.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "metrics/metric_history.h"
#include "muster/result.h"
#include "page/collect/make_page.h"
#include "page/collect/work_ledger.h"
#include "page/write/page_html.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_metrics.h"
#include "run/directory/run_tags.h"
#include "run/hosts/host_history.h"
#include "run/report/ledger_reader.h"
#include "run/report/rehearsal.h"
#include "run/report/report.h"
#include "run/simulate/run_advice.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/failure_table.h"
#include "sweep/record/sweep_status.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The summary of a sweep that muster show and muster report print: state, counts, the best trial, failures with their
// causes, rungs, hosts.

constexpr std::size_t kMaxReasons = 20;  // on a terminal

Result<FailureTable> FailuresOf(const OpenedSweep& sweep) {
  FailureTable failures;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (row.trial_standing.over) failures.Add(row.trial, row.trial_class, row.hosts, row.point);
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  return failures;
}

// Failures with the same class, and the same text except for numbers.
struct FailureCause {
  TrialClass trial_class = TrialClass::kCrash;
  std::string why;  // of the first one
  std::uint64_t trials = 0;
  TrialNumber first = 0;
};

// The most frequent first.
Result<std::vector<FailureCause>> CausesOf(const OpenedSweep& sweep) {
  std::vector<FailureCause> causes;
  std::map<std::pair<TrialClass, std::string>, std::size_t> places;
  auto read = sweep.view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (!row.trial_standing.over || !IsFailure(row.trial_class)) return true;
    std::string key = row.why;
    std::erase_if(key, IsDigit);
    const auto [place, is_new] = places.try_emplace({row.trial_class, std::move(key)}, causes.size());
    if (is_new) causes.push_back({row.trial_class, row.why, 0, row.trial});
    ++causes[place->second].trials;
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
  return causes;
}

// The totals over the rows of a sweep.
struct SweepTotals {
  DeviceHours hours;
  std::string began, last;
  std::vector<SweepView::Reason> reasons;
  std::vector<SweepView::Rung> rungs;
  std::vector<SweepView::Quarantine> quarantined;
  std::vector<FailureCause> causes;  // these two are shown if there were any
  FailureTable failures;
};

Result<SweepTotals> TotalsOf(const OpenedSweep& sweep) {
  SweepTotals totals;
  Diagnostics problems;
  const auto take = [&](auto& into, auto from) {
    if (from) {
      into = *std::move(from);
    } else {
      problems = std::move(from.error());
    }
  };
  take(totals.began, sweep.view.Began());
  take(totals.last, sweep.view.Last());
  take(totals.reasons, sweep.view.Reasons());
  take(totals.rungs, sweep.view.Rungs());
  take(totals.quarantined, sweep.view.Quarantined());
  totals.hours = DeviceHoursOf(sweep.view.progress(), sweep.file.budget);
  if (sweep.view.progress().failed() > 0) {
    take(totals.causes, CausesOf(sweep));
    take(totals.failures, FailuresOf(sweep));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return totals;
}

void PrintFitted(const std::string& lines) {
  std::fputs(FittedLines(PrintableLines(lines), OutputColumns(0)).c_str(), stdout);
}

void PrintField(const std::string& what, const std::string& text) {
  PrintFitted(fmt::format("{:<12} {}\n", what, text));
}

// "4 6/6 oom_device", "4 3/6 oom_device 2, crash 1".
std::string CountText(const std::string& value, const FailureTable::Count& count) {
  std::string text = fmt::format("{} {}/{}", Printable(value), count.failed, count.over);
  if (count.classes.size() == 1) return text + " " + std::string(TrialClassName(count.classes.begin()->first));
  const char* separator = " ";
  for (const auto& [trial_class, trials] : count.classes) {
    text += fmt::format("{}{} {}", std::exchange(separator, ", "), TrialClassName(trial_class), trials);
  }
  return text;
}

void PrintFailures(const FailureTable& failures) {
  const auto by = failures.by();
  if (by.empty()) return;
  std::puts("\nfailures by");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, values] : by) {
    std::string text;
    for (const auto& [value, count] : values) text += (text.empty() ? "" : "   ") + CountText(value, count);
    rows.push_back({"  " + Printable(name), text});
  }
  PrintTable(rows);
  const auto findings = failures.Findings();
  if (findings.empty()) return;
  std::puts("");
  for (const FailureFinding& finding : findings) PrintFitted("  " + Printable(FindingText(finding)) + "\n");
}

void PrintCauses(const std::vector<FailureCause>& causes) {
  if (causes.empty()) return;
  std::puts("\nfailed");
  for (std::size_t i = 0; i < std::min(causes.size(), kMaxReasons); ++i) {
    const FailureCause& cause = causes[i];
    PrintFitted(fmt::format("  {:>8}  {}: {} (trial {}{})\n", cause.trials, TrialClassName(cause.trial_class),
                            Printable(cause.why), cause.first, cause.trials > 1 ? " and others" : ""));
  }
  if (causes.size() > kMaxReasons) std::printf("  and %zu more causes\n", causes.size() - kMaxReasons);
}

void PrintSweep(const OpenedSweep& sweep, const SweepTotals& totals) {
  const SweepProgress& progress = sweep.view.progress();
  PrintField("sweep", fmt::format("{}  {}", Printable(progress.name()), Printable(progress.sweep_id())));
  if (!sweep.file.doc.empty()) PrintField("", Printable(sweep.file.doc));
  if (const std::string tags = TagsText(TagValues(TagsOfRun(sweep.dir))); !tags.empty()) {
    PrintField("tags", Printable(tags));
  }
  if (const std::string note = NoteOfRun(sweep.dir); !note.empty()) PrintField("note", NoteText(note, 13));
  PrintField("directory", Printable(sweep.dir));
  std::string state = sweep.State();
  if (state == "stopped") state += ": " + Printable(progress.ended()->why);
  if (state == "lost") state += ": its head exited without a record";
  if (state == "running") state += ": " + HolderOf(sweep.dir);
  PrintField("state", state);
  PrintField("started", TimeText(totals.began) + (sweep.live ? "" : ", last record " + TimeText(totals.last)));
  if (!sweep.view.stopped().empty()) PrintField("journal", "its end is broken: " + sweep.view.stopped());
  const TrialCounts counts = CountsOf(progress, sweep.live);
  const std::string skipped = counts.skipped > 0 ? fmt::format(" {} skipped,", counts.skipped) : "";
  PrintField("trials", fmt::format("{}: {} over, {} impossible,{} {} running, {} to come", progress.trials(),
                                   counts.over, counts.impossible, skipped, counts.running, counts.waiting));
  std::string ends;
  for (const auto& [name, count] : StatesOfOver(progress)) {
    ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", count, name);
  }
  if (!ends.empty()) PrintField("ended", ends);
  PrintField("attempts", fmt::format("{}, {} in all", progress.attempts(),
                                     DurationText(static_cast<double>(progress.trial_ms()) / 1000)));
  if (const std::string text = DeviceHoursText(totals.hours); !text.empty()) PrintField("budget", text);
  if (const auto& best = progress.best()) {
    PrintField("best", fmt::format("{} {}  trial {}  {}", Printable(sweep.ValueName()),
                                   ShownNumber(ObjectiveValue(sweep.file.objective, best->loss)), best->trial,
                                   Printable(PointText(best->point))));
  }
  if (progress.no_gain()) PrintField("", NoGainText(*progress.no_gain()));
  if (const auto& reasons = totals.reasons; !reasons.empty()) {
    std::puts("\nimpossible");
    for (std::size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i) {
      PrintFitted(fmt::format("  {:>8}  {}{}\n", reasons[i].count,
                              reasons[i].place.empty() ? "" : Printable(reasons[i].place) + ": ",
                              Printable(reasons[i].text)));
    }
    if (reasons.size() > kMaxReasons) std::printf("  and %zu more reasons\n", reasons.size() - kMaxReasons);
  }
  if (!totals.rungs.empty()) {
    std::puts("\nrungs");
    std::vector<std::vector<std::string>> rows = {{"  RUNG", "AT", "TRIALS", "STOPPED", "BEST"}};
    for (const SweepView::Rung& rung : totals.rungs) {
      rows.push_back({fmt::format("  {}", rung.rung + 1), ShownNumber(rung.resource), std::to_string(rung.trials),
                      std::to_string(rung.stopped),
                      rung.best ? ShownNumber(ObjectiveValue(sweep.file.objective, *rung.best)) : ""});
    }
    PrintTable(rows);
  }
  if (!totals.quarantined.empty()) {
    std::puts("\nquarantined");
    for (const SweepView::Quarantine& host : totals.quarantined) {
      std::printf("  %s  %s: %s\n", TimeText(host.wall).c_str(), Printable(host.host).c_str(),
                  Printable(host.why).c_str());
    }
  }
  PrintCauses(totals.causes);
  PrintFailures(totals.failures);
}

// What is printed as JSON, members in the order of their names.
struct PrintedReason {
  std::string text, place;
  std::uint64_t trials = 0;
};
template <class V>
void Parts(V& v, const PrintedReason& reason) {
  v("place", reason.place), v("text", reason.text), v("trials", reason.trials);
}
struct PrintedRung {
  std::uint64_t rung = 1;  // from 1
  double resource = 0;
  std::uint64_t trials = 0;
  std::uint64_t stopped = 0;
  std::optional<double> best;
};
template <class V>
void Parts(V& v, const PrintedRung& rung) {
  v("best", rung.best), v("resource", rung.resource), v("rung", rung.rung), v("stopped", rung.stopped);
  v("trials", rung.trials);
}
struct PrintedQuarantine {
  std::string host, why, at;
};
template <class V>
void Parts(V& v, const PrintedQuarantine& host) {
  v("at", host.at), v("host", host.host), v("why", host.why);
}
template <class V>
void Parts(V& v, const FailureCause& cause) {
  v("class", TrialClassName(cause.trial_class)), v("first", cause.first), v("trials", cause.trials);
  v("why", cause.why);
}
struct PrintedCount {
  std::map<std::string, std::uint64_t> classes;  // of the failed ones
  std::uint64_t failed = 0;
  std::uint64_t over = 0;
};
template <class V>
void Parts(V& v, const PrintedCount& count) {
  v("classes", count.classes), v("failed", count.failed), v("over", count.over);
}
struct PrintedFinding {
  FailureFinding of;
};
template <class V>
void Parts(V& v, const PrintedFinding& finding) {
  const FailureFinding& of = finding.of;
  v("chance", of.chance), v("class", TrialClassName(of.trial_class)), v("failed", of.failed), v("hosts", of.hosts);
  v("name", of.name.empty() ? "host" : of.name.c_str()), v("other_failed", of.other_failed),
      v("other_over", of.other_over);
  v("text", FindingText(of)), v("value", of.value);
}
struct PrintedSkip {
  std::string name, value, text;
  std::uint64_t trials = 0;
};
template <class V>
void Parts(V& v, const PrintedSkip& skip) {
  v("name", skip.name), v("text", skip.text), v("trials", skip.trials), v("value", skip.value);
}
struct PrintedHours {
  DeviceHours of;
};
template <class V>
void Parts(V& v, const PrintedHours& hours) {
  v("forecast", hours.of.forecast), v("limit", hours.of.limit), v("spent", hours.of.spent);
}
struct PrintedTotals {
  std::string sweep, name, sweep_dir, state, why, note, started_at;
  std::vector<std::string> tags;
  std::uint64_t trials = 0;
  std::uint64_t over = 0;
  std::uint64_t impossible = 0;
  std::uint64_t running = 0;
  std::uint64_t attempts = 0;
  double seconds = 0;
  std::optional<PrintedBest> best;
  std::map<std::string, std::uint64_t> classes;
  std::vector<PrintedReason> reasons;
  std::vector<PrintedRung> rungs;
  std::vector<PrintedQuarantine> quarantined;
  std::vector<FailureCause> causes;
  std::map<std::string, std::map<std::string, PrintedCount>> failures;
  std::vector<PrintedFinding> findings;
  std::vector<PrintedSkip> skipped;
  PrintedHours device_hours;
  std::optional<NoGainExpected> no_gain;
};
template <class V>
void Parts(V& v, const PrintedTotals& totals) {
  v("attempts", totals.attempts), v("best", totals.best), v("causes", totals.causes), v("classes", totals.classes);
  v("device_hours", totals.device_hours);
  v("failures", totals.failures), v("findings", totals.findings), v("format", 1), v("impossible", totals.impossible),
      v("name", totals.name);
  v("no_gain", totals.no_gain);
  v("note", As<NullIfNone>(totals.note)), v("over", totals.over), v("quarantined", totals.quarantined);
  v("reasons", totals.reasons), v("rungs", totals.rungs), v("running", totals.running), v("seconds", totals.seconds);
  v("skipped", totals.skipped), v("started_at", totals.started_at), v("state", totals.state);
  v("sweep", totals.sweep);
  v("sweep_dir", totals.sweep_dir), v("tags", totals.tags), v("trials", totals.trials), v("why", totals.why);
}

PrintedTotals PrintedTotalsOf(const OpenedSweep& sweep, const SweepTotals& totals) {
  const SweepProgress& progress = sweep.view.progress();
  PrintedTotals printed;
  printed.sweep = progress.sweep_id();
  printed.name = progress.name();
  printed.sweep_dir = sweep.dir;
  printed.state = sweep.State();
  if (progress.ended()) printed.why = progress.ended()->why;
  printed.tags = TagsOfRun(sweep.dir);
  printed.note = NoteOfRun(sweep.dir);
  printed.started_at = totals.began;
  printed.trials = progress.trials();
  printed.over = progress.over().size();
  printed.impossible = progress.impossible().size();
  printed.running = CountsOf(progress, sweep.live).running;
  printed.attempts = progress.attempts();
  printed.seconds = static_cast<double>(progress.trial_ms()) / 1000;
  printed.best = BestOf(sweep);
  printed.classes = ClassesOf(progress);
  for (const auto& reason : totals.reasons) printed.reasons.push_back({reason.text, reason.place, reason.count});
  for (const auto& rung : totals.rungs) {
    const auto best = rung.best ? std::optional(ObjectiveValue(sweep.file.objective, *rung.best)) : std::nullopt;
    printed.rungs.push_back({rung.rung + 1, rung.resource, rung.trials, rung.stopped, best});
  }
  for (const auto& host : totals.quarantined) printed.quarantined.push_back({host.host, host.why, host.wall});
  printed.device_hours.of = totals.hours;
  printed.no_gain = progress.no_gain();
  printed.causes = totals.causes;
  for (const auto& [name, values] : totals.failures.by()) {
    for (const auto& [value, count] : values) {
      PrintedCount& counted = printed.failures[name][value];
      counted.failed = count.failed;
      counted.over = count.over;
      for (const auto& [trial_class, trials] : count.classes) {
        counted.classes.emplace(TrialClassName(trial_class), trials);
      }
    }
  }
  for (const auto& [text, skip] : progress.skipped()) {
    printed.skipped.push_back({skip.why.name, TableValue(skip.why.value), SkipReason(skip.why), skip.trials.size()});
  }
  for (FailureFinding& finding : totals.failures.Findings()) printed.findings.push_back({std::move(finding)});
  return printed;
}

// Writes to the standard output, as text or as one JSON object. Fails, with nothing printed, if rows cannot be read.
Result<void> ShowSweep(const OpenedSweep& sweep, bool json) {
  const auto totals = TotalsOf(sweep);
  if (!totals) return Fail(totals.error());
  if (json) {
    std::printf("%s\n", JsonOf<PartForms>(PrintedTotalsOf(sweep, *totals), 2).c_str());
  } else {
    PrintSweep(sweep, *totals);
  }
  return {};
}

// The curve of a trial in a terminal: a metric that its processes reported, over the one that counts progress.

struct CurveChoice {
  std::string metric = {};    // empty: the objective
  std::string resource = {};  // the metric that counts progress, if it is known
  bool must_exist = false;    // a metric that was not reported is an error
};

// A heading, and a plot of the first process that has the metric; empty if none has. Kind "metrics": the metric was not
// reported, but others were.
Result<std::vector<std::string>> CurveLines(const std::vector<ProcessHistory>& histories, const CurveChoice& choice,
                                            const PlotShape& shape) {
  std::set<std::string> known;
  for (const ProcessHistory& process : histories) {
    for (const auto& [name, unused] : process.history.columns) known.insert(name);
    if (!process.history.columns.contains(choice.metric)) continue;
    const std::string step = StepMetric(process.history.columns, choice.resource);
    const MetricSeries series = SeriesOf(process.history, choice.metric, step == choice.metric ? "" : step);
    std::vector<std::string> lines = TextPlot(series.x, series.y, shape);
    if (lines.empty()) continue;
    std::string heading = fmt::format(
        "{} over {}, {}", Printable(choice.metric), step.empty() || step == choice.metric ? "reports" : Printable(step),
        process.role.empty() ? "from its log" : fmt::format("{}.{}", process.role, process.index));
    if (shape.log_y) heading += ", logarithmic";
    lines.insert(lines.begin(), std::move(heading));
    return lines;
  }
  if (!choice.must_exist) return std::vector<std::string>();
  const std::vector<std::string> names(known.begin(), known.end());
  if (known.contains(choice.metric)) {
    return Fail(Error("metrics", {},
                      fmt::format("{} has no value that can be drawn{}", Quoted(choice.metric),
                                  shape.log_y ? " on a logarithmic axis" : "")));
  }
  return Fail(Error("metrics", {}, fmt::format("the trial has not reported {}", Quoted(choice.metric)),
                    names.empty() ? "it has reported nothing" : DidYouMean(choice.metric, names)));
}

}  // namespace

// Writes the page of runs and sweeps: muster report --html.

struct Report;

// The words name runs, sweeps or trials; without one, the newest. `file`: "-" is stdout; an existing file is replaced
// as a whole. The exit code.
int WriteReportPage(const std::vector<std::string>& words, const std::string& file);

// Prints an error for each log that its report could not read; whether there is none.
bool PrintUnreadableLogs(const Report& report);

namespace {

Result<void> WritePage(const std::string& html, const std::string& file) {
  if (file == "-") {
    std::fwrite(html.data(), 1, html.size(), stdout);
    return {};
  }
  const std::filesystem::path path(file);
  const std::string parent = path.parent_path().empty() ? "." : path.parent_path().string();
  const auto folder = OpenFolder(AT_FDCWD, parent + "/.");
  if (!folder) return Fail(folder.error());
  return ReplaceFile(folder->get(), path.filename(), html);
}

}  // namespace

bool PrintUnreadableLogs(const Report& report) {
  Diagnostics problems;
  for (const std::string& log : report.unreadable_logs) {
    problems.push_back(MachineError("logs", Printable(report.run_dir + "/" + log), "the report is without its lines"));
  }
  if (!problems.empty()) PrintDiagnostics(problems);
  return problems.empty();
}

int WriteReportPage(const std::vector<std::string>& words, const std::string& file) {
  std::vector<NamedRunOrSweep> folders;
  for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
    auto found = FindRunOrSweep(word, DirectoryUse::kRead, Prefer::kNewest);
    if (!found) return Refuse(found.error());
    folders.push_back(*std::move(found));
  }
  auto page = MakePage(folders);
  if (!page) return Refuse(page.error());
  if (const auto ledger = LedgerOfWork(folders)) page->ledger = WorkLedgerValue(*ledger);
  const auto written = WritePage(WithArchiveNames(PageHtml(*page)), file);
  if (!written) return Refuse(written.error());
  if (file != "-") std::printf("%s\n", Printable(file).c_str());
  bool readable = true;
  for (const NamedRunOrSweep& each : folders) {
    const auto report = each.is_sweep ? Result<Report>(Fail(Diagnostics())) : MakeReport(each.folder);
    if (report && !PrintUnreadableLogs(*report)) readable = false;
  }
  return readable ? kExitOk : kExitUnreadable;
}

// muster report: reports how a run or a sweep went, from its folder alone.

namespace {

struct ReportOptions {
  std::vector<std::string> words;
  bool json = false;
  bool ledger = false;
  std::string html;
};

// What would keep more of its work, from its checkpoints, its time in the queue and what is remembered of its hosts.
std::vector<std::string> AdviceOn(const std::string& folder, const Report& report) {
  if (report.rehearsal || report.drill) return {};
  const auto run = ReadLedgerRun(folder);
  if (!run) return {};
  std::vector<SavedCheckpoint> saved;
  for (const CheckpointWrite& write : run->writes) {
    saved.push_back({static_cast<double>(write.from) / 1e9, static_cast<double>(write.to) / 1e9});
  }
  double start_s = 0;
  for (const RoleStartup& role : report.startup.roles) {
    double took = role.ordered;
    for (const auto& step : {role.spawn, role.ready, role.first_output}) took += step ? step->slowest : 0;
    start_s = std::max(start_s, took);
  }
  std::set<std::string> hosts;
  for (const ProcessReport& process : report.processes) hosts.insert(process.host);
  if (hosts.empty()) return {};
  const HostFailures remembered = FailuresOf(ReadHostHistory(HostHistoryFile(OwnVariables())), hosts);
  const auto count = static_cast<double>(run->plan->hosts.size());
  std::vector<std::string> advice;
  if (const auto interval = AdviseInterval(saved, start_s, remembered, count)) advice.push_back(AdviceText(*interval));
  const std::size_t replaced = report.replacements.size();
  if (report.outcome == "failed" && report.receipt.silent_hosts.size() > replaced) {
    const auto spares = AdviseSpares(InSeconds(run->queued_ns), remembered, count, static_cast<unsigned>(replaced));
    if (spares) advice.push_back(AdviceText(*spares));
  }
  return advice;
}

// The words name runs, sweeps and trials, or folders of them.
int ReportLedger(const std::vector<std::string>& words, bool json) {
  std::vector<NamedRunOrSweep> work;
  std::vector<NamedRunOrSweep> found_work;  // in folders
  for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
    auto found = FindRunOrSweep(word, DirectoryUse::kRead, Prefer::kNewest);
    std::error_code error;
    if (found) {
      if (const auto queued = found->is_sweep ? std::nullopt : NotBegun(found->folder)) {
        return Refuse({Error("run", {}, fmt::format("{} has not begun: {}", queued->name, QueueSentence(*queued)),
                             "its time in the queue is counted once it has begun")},
                      json);
      }
      if (!found->is_sweep) SettleIfLost(found->folder);
      work.push_back(*std::move(found));
    } else if (std::filesystem::is_directory(word, error)) {
      const std::vector<NamedRunOrSweep> in_folder = WorkIn(word);
      if (in_folder.empty()) return Refuse(found.error(), json);
      found_work.insert(found_work.end(), in_folder.begin(), in_folder.end());
    } else {
      return Refuse(found.error(), json);
    }
  }
  const auto ledger = LedgerOfWork(work, found_work);
  if (!ledger) return Refuse(ledger.error(), json);
  const std::string text = WithArchiveNames(json ? WorkLedgerJson(*ledger) : WorkLedgerText(*ledger));
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

int ReportSweep(const std::string& folder, bool json) {
  const auto sweep = OpenSweepAt(folder);
  const auto shown = sweep ? ShowSweep(*sweep, json) : Result<void>(Fail(sweep.error()));
  if (shown) return kExitOk;
  return Refuse(shown.error());
}

struct PrintedQueued {
  QueuedRun run;
};
template <class V>
void Parts(V& v, const PrintedQueued& printed) {
  QueuedParts(v, printed.run, true);
}

// A submitted run that no head has begun.
int ReportNotBegun(const QueuedRun& run, bool json) {
  if (json) {
    std::printf("%s\n", JsonOf<PartForms>(PrintedQueued{run}, 1).c_str());
    return kExitOk;
  }
  std::printf("%s has not begun: %s\n", Printable(run.name).c_str(), PrintableLines(QueueSentence(run)).c_str());
  std::printf("  %-10s%s\n", "run", Printable(run.run_dir).c_str());
  for (const std::string& line : OutputBeforeRun(run.run_dir)) {
    std::printf("  %-10s%s\n", kJobOutputEntry.name, Printable(line).c_str());
  }
  return kExitOk;
}

int RunReport(const ReportOptions& options) {
  if (!options.html.empty()) return WriteReportPage(options.words, options.html);
  if (options.ledger) return ReportLedger(options.words, options.json);
  if (options.words.size() > 1) {
    const Diagnostics several = {Error("usage", {}, "several runs or sweeps can only be compared on a page",
                                       "muster report RUN RUN --html FILE; muster diff compares as text")};
    return Refuse(several);
  }
  const auto work =
      FindRunOrSweep(options.words.empty() ? "" : options.words.front(), DirectoryUse::kRead, Prefer::kNewest);
  if (!work) return Refuse(work.error());
  if (work->is_sweep) return ReportSweep(work->folder, options.json);
  const std::string* const folder = &work->folder;
  if (const auto queued = NotBegun(*folder)) return ReportNotBegun(*queued, options.json);
  SettleIfLost(*folder);
  const auto report = MakeReport(*folder);
  if (!report) return Refuse(report.error());
  const ReportView view = {.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr};
  const std::string text = options.json
                               ? ReportJson(*report, std::filesystem::absolute(*folder).lexically_normal().string())
                               : ReportText(*report, view);
  std::fputs((options.json ? WithArchiveNames(text) : FittedLines(WithArchiveNames(text), OutputColumns(0))).c_str(),
             stdout);
  for (const std::string& advice : options.json ? std::vector<std::string>() : AdviceOn(*folder, *report)) {
    std::printf("  %-10s%s\n", "advice", Printable(advice).c_str());
  }
  if (report->rehearsal && !report->drill && !options.json) {
    if (const auto rehearsal = ReadRehearsal(*folder))
      std::fputs(PrintableLines(RehearsalText(*rehearsal)).c_str(), stdout);
  }
  return PrintUnreadableLogs(*report) ? kExitOk : kExitUnreadable;
}

}  // namespace

std::function<int()> SetupReport(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ReportOptions>();
  AddRunsOrSweepsArgument(app, options->words);
  auto* json = app.add_flag("--json", options->json, "print JSON for programs, as in report.json, with run_dir");
  auto* ledger = app.add_flag("--ledger", options->ledger,
                              "print where the device hours went; also of folders, and of several together");
  app.add_option("--html", options->html, "write one page with plots to FILE; several: compared")
      ->type_name("FILE")
      ->excludes(json)
      ->excludes(ledger);
  return [options] { return RunReport(*options); };
}

// muster show: the state of a sweep, or the history of one of its trials.

namespace {

struct ShowOptions {
  std::string word;
  std::string curve;  // a metric; empty: the objective
  bool log = false;
  bool json = false;
};

void PrintTrialField(const std::string& what, const std::string& text) {
  std::printf("%-12s %s\n", what.c_str(), PrintableLines(text).c_str());
}

void PrintTrial(const OpenedSweep& sweep, const std::vector<AttemptRow>& attempts, const AttemptRow& kept,
                const std::vector<std::string>& decisions, TrialNumber trial) {
  const TrialFacts last(sweep, attempts.back());
  PrintTrialField("trial", fmt::format("{} of {}  {}", trial, Printable(sweep.file.name), last.row().id));
  PrintTrialField("state", last.State() + (kept.attempt == last.row().latest
                                               ? std::string()
                                               : fmt::format(", the result is that of attempt {}", kept.attempt + 1)));
  for (const auto& [name, value] : last.row().point) {
    PrintTrialField("  " + Printable(name), Printable(value.AsString() != nullptr ? *value.AsString() : ToText(value)));
  }
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    std::printf("\nattempt %u: %s\n", row.attempt + 1, PrintableLines(attempt.AttemptState()).c_str());
    if (const std::string from = attempt.FromText(); !from.empty()) PrintTrialField("  from", Printable(from));
    PrintTrialField(
        "  started",
        TimeText(row.began) + (row.ended.empty() ? "" : ", took " + DurationText(static_cast<double>(row.ms) / 1000)));
    if (!row.warning.empty()) PrintTrialField("  warning", Printable(row.warning));
    if (!row.job.empty()) PrintTrialField("  job", Printable(row.job));
    if (!row.hosts.empty()) PrintTrialField("  hosts", Printable(*attempt.Of("hosts").AsString()));
    if (row.loss) {
      PrintTrialField("  " + Printable(sweep.ValueName()),
                      ShownNumber(ObjectiveValue(sweep.file.objective, *row.loss)));
    }
    for (const auto& [name, value] : row.metrics) {
      if (!row.loss || !sweep.file.objective || name != sweep.file.objective->metric) {
        PrintTrialField("  " + Printable(name), Printable(ShownValue(value)));
      }
    }
    if (!row.why.empty()) PrintTrialField("  why", Printable(row.why));
    if (!row.blamed.empty()) PrintTrialField("  blamed", Printable(row.blamed));
    if (const Value tags = attempt.Of("tags"); tags.AsString() != nullptr)
      PrintTrialField("  tags", Printable(*tags.AsString()));
    if (const Value note = attempt.Of("note"); note.AsString() != nullptr)
      PrintTrialField("  note", NoteText(*note.AsString(), 13));
    PrintTrialField("  directory", Printable(attempt.RunDir()));
  }
  if (!decisions.empty()) std::puts("\nearly stopping");
  for (const std::string& decision : decisions) std::printf("  %s\n", PrintableLines(decision).c_str());
}

// The curve of the attempt that the trial keeps, or of the newest one that has reported; of the objective, unless
// another metric is wanted.
Result<void> PrintCurve(const OpenedSweep& sweep, std::vector<AttemptRow> attempts, const AttemptRow& kept,
                        const ShowOptions& options) {
  CurveChoice choice{options.curve, sweep.file.resource};
  if (choice.metric.empty() && sweep.file.objective) choice.metric = sweep.file.objective->metric;
  if (choice.metric.empty()) return {};
  constexpr std::size_t kMaxWidth = 100;
  PlotShape shape;
  shape.columns = std::min(OutputColumns(80), kMaxWidth);
  shape.log_y = options.log;
  shape.glyphs = OutputGlyphs();
  std::reverse(attempts.begin(), attempts.end());
  std::stable_partition(attempts.begin(), attempts.end(),
                        [&](const AttemptRow& attempt) { return attempt.attempt == kept.attempt; });
  for (const AttemptRow& attempt : attempts) {
    choice.must_exist = &attempt == &attempts.front() && !options.curve.empty();
    const auto lines = CurveLines(ReadContinuedHistory(attempt.RunDirs(sweep.dir), sweep.file.metrics,
                                                       sweep.file.resource, !attempt.ended.empty()),
                                  choice, shape);
    if (!lines) return Fail(lines.error());
    if (lines->empty()) continue;
    std::puts("");
    for (const std::string& line : *lines) std::puts(PrintableLines(line).c_str());
    break;
  }
  return {};
}

// Members are in the order of their names.
struct PrintedAttempts {
  std::string sweep;
  std::uint64_t trial = 0;
  std::string run_dir;
  std::vector<PrintedTrial> attempts;
  std::vector<std::string> decisions;
};
template <class V>
void Parts(V& v, const PrintedAttempts& printed) {
  v("attempts", printed.attempts), v("decisions", printed.decisions), v("format", 1), v("run_dir", printed.run_dir);
  v("sweep", printed.sweep), v("trial", printed.trial);
}

Result<void> ShowTrial(const OpenedSweep& sweep, const std::string& word, const ShowOptions& options) {
  const auto chosen = ChooseTrial(sweep.view, word);
  if (!chosen) return Fail(chosen.error());
  auto of_trial = sweep.view.AttemptsOf(chosen->trial);
  const auto decisions = sweep.view.DecisionsOn(chosen->trial);
  const auto kept = sweep.view.KeptOf(chosen->trial);
  if (!of_trial || !decisions) return Fail(of_trial ? decisions.error() : of_trial.error());
  if (!kept) return Fail(kept.error());
  std::vector<AttemptRow>& attempts = *of_trial;
  if (attempts.empty()) {  // the reason, as for a run of it
    return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (chosen->attempt && word.find('.') != std::string::npos) {
    std::erase_if(attempts, [&](const AttemptRow& row) { return row.attempt != *chosen->attempt; });
    if (attempts.empty()) return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (!options.json) {
    PrintTrial(sweep, attempts, **kept, *decisions, chosen->trial);
    return PrintCurve(sweep, attempts, **kept, options);
  }
  const auto run_dir = RunDirectoryOf(sweep.view, sweep.dir, *chosen);
  if (!run_dir) return Fail(run_dir.error());
  PrintedAttempts printed{sweep.file.sweep_id, chosen->trial, *run_dir, {}, *decisions};
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    printed.attempts.push_back(attempt.Printed(attempt.AttemptState()));
  }
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
  return {};
}

int RunShow(const ShowOptions& options) {
  const auto trial = SweepAndTrial(options.word);
  if (!trial && (!options.curve.empty() || options.log)) {
    return Refuse({Error("usage", {}, "--curve and --log draw one trial", "muster show SWEEP:best --log")});
  }
  const auto sweep = OpenSweep(trial ? trial->first : options.word);
  if (!sweep) return Refuse(sweep.error(), options.json);
  if (trial) {
    const auto shown = ShowTrial(*sweep, trial->second, options);
    return shown ? kExitOk : Refuse(shown.error(), options.json);
  }
  const auto shown = ShowSweep(*sweep, options.json);
  return shown ? kExitOk : Refuse(shown.error(), options.json);
}

}  // namespace

std::string SweepReportSchema() { return SchemaOf<PartForms>(PrintedTotals()); }
std::string QueuedReportSchema() { return SchemaOf<PartForms>(PrintedQueued()); }
std::string LedgerSchema() { return WorkLedgerSchema(); }
std::string TrialSchema() { return SchemaOf<PartForms>(PrintedAttempts()); }

std::function<int()> SetupShow(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ShowOptions>();
  AddSweepArgument(app, options->word);
  app.get_option("SWEEP")->description(
      "path, name, name~1 or id prefix (default: the newest), or a trial: SWEEP:12, SWEEP:3f9a, SWEEP:best");
  auto* json = app.add_flag("--json", options->json, "print JSON for programs");
  app.add_option("--curve", options->curve, "of a trial: the metric to draw; default: the objective")
      ->type_name("METRIC")
      ->excludes(json);
  app.add_flag("--log", options->log, "draw it on a logarithmic axis")->excludes(json);
  return [options] { return RunShow(*options); };
}

}  // namespace muster
