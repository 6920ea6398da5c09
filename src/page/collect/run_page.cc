#include "page/collect/run_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "muster/plan.h"
#include "muster/value.h"
#include "plan/text/folded_texts.h"
#include "run/directory/process_output.h"
#include "run/directory/run_files.h"
#include "run/directory/run_metrics.h"
#include "run/directory/usage_history.h"
#include "run/journal/run_history.h"
#include "run/report/failure_analysis.h"
#include "run/report/report.h"
#include "sweep/index/sweep_view.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The processes of a run over time: spans of their attempts, and what happened to them and to the
// run.

struct RunLanes {
  Value::List lanes;   // one map for each process of the plan
  Value::List phases;  // of the run
  Value::List marks;   // of the run as a whole
  double seconds = 0;  // from the beginning until the last record
};

struct Span {
  double from = 0;
  std::optional<double> to;
  std::uint32_t attempt = 0;
  std::string state;
  std::string text;
};

using Marks = std::map<std::uint64_t, Value>;  // by record

Value Mark(const char* kind, double at, const std::string& text = {}) {
  return Value(Value::Map{{"kind", Value(kind)}, {"at", Value(at)}, {"text", TextValue(text)}});
}

Value::List SortedMarks(Marks marks) {
  Value::List list;
  for (auto& [seq, mark] : marks) list.push_back(std::move(mark));
  return list;
}

class LaneMaker {
 public:
  LaneMaker(const Plan& plan, const RunHistory& history) : plan_(plan), history_(history) {
    const auto add = [&](const auto& event, const char* kind, const std::string& text) {
      of_process_[event.process].emplace(event.seq, Mark(kind, Seconds(event.on_head), text));
    };
    for (const Recorded<RestartPlanned>& restart : history.restarts) add(restart, "restart", restart.why);
    if (history.first_failure) add(*history.first_failure, "origin", "");
  }

  RunLanes Make(const Report& report) {
    RunLanes result;
    result.seconds = Seconds(history_.last.on_head);
    for (ProcessId id = 0; id < plan_.processes.size(); ++id) result.lanes.push_back(Lane(id, report.processes[id]));
    if (!history_.phases.empty()) AddPhase(result, history_.phases.front().from, 0, 0);
    for (std::size_t i = 0; i < history_.phases.size(); ++i) {
      AddPhase(result, history_.phases[i].to, Seconds(history_.phases[i].on_head), i + 1);
    }
    Marks marks;
    for (const auto& seen : history_.checkpoints) {
      marks.emplace(seen.seq, Mark("checkpoint", Seconds(seen.on_head), seen.path));
    }
    for (const DumpHistory& dump : history_.dumps) {
      marks.emplace(dump.order.seq, Mark("dump", Seconds(dump.order.on_head), dump.order.why));
    }
    for (const Recorded<FaultInjected>& fault : history_.faults) {
      marks.emplace(fault.seq, Mark("fault", Seconds(fault.on_head), FaultText(fault)));
    }
    for (const auto& stop : history_.stop_requests) marks.emplace(stop.seq, Mark("stop", Seconds(stop.on_head)));
    result.marks = SortedMarks(std::move(marks));
    return result;
  }

 private:
  double Seconds(MonotonicNs at) const { return SecondsBetween(history_.first.on_head, at); }

  // `next`: the index of the change that ended it.
  void AddPhase(RunLanes& lanes, Phase phase, double from, std::size_t next) const {
    const double to = next < history_.phases.size() ? Seconds(history_.phases[next].on_head) : lanes.seconds;
    lanes.phases.emplace_back(
        Value::Map{{"name", Value(std::string(PhaseName(phase)))}, {"from", Value(from)}, {"to", Value(to)}});
  }

  bool HasReadiness(ProcessId process) const {
    const Readiness::Kind kind = plan_.roles[plan_.processes[process].role].ready.kind;
    return kind != Readiness::Kind::kStarted && kind != Readiness::Kind::kDone;
  }

  std::vector<Span> SpansOf(ProcessId id) const {
    std::vector<Span> spans;
    const auto close = [&](double at) {
      if (!spans.empty() && !spans.back().to) spans.back().to = std::max(at, spans.back().from);
    };
    for (std::uint32_t number = 0; number < history_.attempts[id].size(); ++number) {
      const AttemptHistory& attempt = history_.attempts[id][number];
      const auto begin = [&](double at, const char* state) {
        close(at);
        spans.push_back({.from = at, .to = {}, .attempt = number, .state = state, .text = {}});
      };
      const auto end = [&](double at, const char* state, std::string text) {
        if (!spans.empty() && !spans.back().to) spans.back().state = state, spans.back().text = std::move(text);
        close(at);
      };
      const auto when = [&](const auto& event) { return Seconds(history_.TimeOf(attempt, event)); };
      if (attempt.ordered) begin(Seconds(attempt.ordered->on_head), "starting");
      if (attempt.started) begin(when(*attempt.started), HasReadiness(id) ? "starting" : "running");
      if (attempt.ready) begin(when(*attempt.ready), "running");
      if (const auto& failed = attempt.spawn_failed) {
        end(Seconds(failed->on_head), "failed",
            fmt::format("could not be started: {} {}", failed->stage, failed->detail));
      }
      if (const auto& exited = attempt.exited) {
        const bool badly = exited->signalled || exited->code != 0;
        const bool signalled = std::any_of(attempt.signals.begin(), attempt.signals.end(),
                                           [&](const auto& sent) { return sent.seq < exited->seq; });
        end(when(*exited),
            !badly      ? "ok"
            : signalled ? "stopped"
                        : "failed",
            exited->signalled ? "ended by " + SignalName(exited->code)
                              : fmt::format("exited with code {}", exited->code));
      }
    }
    return spans;
  }

  Value::List SilencesOf(ProcessId id) const {
    constexpr double kWorthShowing = 1;
    Value::List silences;
    for (const AttemptHistory& attempt : history_.attempts[id]) {
      const MonotonicNs end = attempt.exited ? history_.TimeOf(attempt, *attempt.exited) : history_.last.on_head;
      for (const Silence& silence : attempt.silences) {
        const double from = Seconds(silence.from);
        const double to = Seconds(silence.to.value_or(end));
        if (to - from <= kWorthShowing) continue;
        silences.emplace_back(Value::Map{{"from", Value(from)}, {"to", Value(to)}});
      }
    }
    return silences;
  }

  Value::List MarksOf(ProcessId id) {
    Marks& marks = of_process_[id];
    for (const AttemptHistory& attempt : history_.attempts[id]) {
      for (const Recorded<SignalSent>& sent : attempt.signals) {
        const double at = Seconds(history_.TimeOf(attempt, sent));
        marks.emplace(sent.seq, Mark("signal", at, "was sent " + SignalName(sent.signal)));
      }
      for (const Recorded<LimitPassed>& limit : attempt.limits) {
        if (limit.limit.starts_with("silent")) marks.emplace(limit.seq, Mark("silent", Seconds(limit.on_head)));
      }
    }
    return SortedMarks(std::move(marks));
  }

  Value Lane(ProcessId id, const ProcessReport& process) {
    Value::List spans;
    const std::vector<Span> all = SpansOf(id);
    const bool still = process.verdict == "running";
    for (Span span : all) {
      const bool last = spans.size() + 1 == all.size();
      // The last attempt has the process's verdict, which knows the others.
      if (last && span.state != "starting" && process.verdict != "not_started") span.state = process.verdict;
      if (last && !span.to && !still) span.state = "lost";
      spans.emplace_back(Value::Map{{"from", Value(span.from)},
                                    {"to", Value(span.to.value_or(Seconds(history_.last.on_head)))},
                                    {"attempt", CountValue(span.attempt)},
                                    {"state", Value(span.state)},
                                    {"text", TextValue(span.text)}});
    }
    Value::List devices;
    for (const std::string& device : process.devices) devices.push_back(TextValue(device));
    return Value(Value::Map{{"name", TextValue(fmt::format("{}.{}", process.role, process.index))},
                            {"rank", process.rank ? CountValue(*process.rank) : Value()},
                            {"host", TextValue(process.host)},
                            {"devices", Value(std::move(devices))},
                            {"verdict", TextValue(process.verdict)},
                            {"spans", Value(std::move(spans))},
                            {"silences", Value(SilencesOf(id))},
                            {"marks", Value(MarksOf(id))}});
  }

  const Plan& plan_;
  const RunHistory& history_;
  std::map<ProcessId, Marks> of_process_;
};

// The plan of a run for its page: parameters, and the command and variables of each role, with where they come from as
// far as the run directory says.

constexpr std::size_t kMaxProcesses = 512;  // whose different values are listed

// Names of the parameters that the command line set, from inputs.json.
std::set<std::string> OverridesOf(int folder) {
  std::set<std::string> names;
  const auto text = ReadFileAt(folder, kInputsEntry.name, kInputsEntry.most);
  const auto json = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  const Value* evaluation = json ? FieldOf(*json, "evaluation") : nullptr;
  if (evaluation == nullptr) return names;
  for (const Value& one : ListField(*evaluation, "overrides")) names.insert(TextField(one, "name"));
  return names;
}

Value::List ParametersOf(const Plan& plan, int folder, const std::string& word) {
  const std::set<std::string> overrides = OverridesOf(folder);
  Value::List list;
  const auto add = [&](const std::string& name, const Value& value, const std::string& source) {
    list.emplace_back(Value::Map{
        {"name", TextValue(name)},
        {"text", TextValue(PlainText(value))},
        {"source", TextValue(fmt::format("{}; in full: muster explain {} {}", source, word, ShellQuoted(name)))}});
  };
  for (const auto& [name, value] : plan.params) {
    add(name, value, overrides.contains(name) ? "set on the command line" : "the recipe's value");
  }
  for (const auto& [name, value] : plan.derived) {
    const bool pinned = plan.pinned.contains(name);
    add(name, value,
        pinned ? "pinned, the recipe derives " + PlainText(plan.pinned.at(name)) : "derived by the recipe");
  }
  return list;
}

// A variable over the processes of a role: one text, or a rule and the text of each process.
Value VariableValue(const Plan& plan, const std::vector<ProcessText>& texts, std::size_t processes,
                    const std::string& name, const std::string& word) {
  const std::vector<FoldedText> folded = FoldTexts(plan, texts);
  const bool common = folded.size() == 1 && !folded[0].rule;
  std::string source;
  if (common && texts.size() == processes) {
    source = "the same in all processes of the role";
  } else if (folded.size() == 1 && folded[0].rule) {
    source = "follows from the position of the process: " + folded[0].text;
  } else {
    source = fmt::format("{} different values in {} of {} processes", folded.size(), texts.size(), processes);
  }
  source += fmt::format("; in full: muster explain {} {}", word, ShellQuoted(name));
  Value::List values;
  if (!common) {
    for (std::size_t i = 0; i < std::min(texts.size(), kMaxProcesses); ++i) {
      values.emplace_back(
          Value::List{TextValue(ProcessName(plan, plan.processes[texts[i].process])), TextValue(texts[i].text)});
    }
  }
  std::string shown = folded.empty() ? "" : folded[0].text;
  if (folded.size() > 1) shown = fmt::format("{} … ({} values)", shown, folded.size());
  return Value(Value::Map{{"name", TextValue(name)},
                          {"text", TextValue(shown)},
                          {"source", TextValue(source)},
                          {"processes", Value(static_cast<std::int64_t>(common ? 0 : texts.size()))},
                          {"values", Value(std::move(values))}});
}

Value RoleValue(const Plan& plan, std::uint32_t role, const HiddenValues& hidden, const std::string& word) {
  std::size_t processes = 0;
  std::map<std::string, std::vector<ProcessText>> variables;
  std::vector<ProcessText> commands;
  for (std::uint32_t id = 0; id < plan.processes.size(); ++id) {
    if (plan.processes[id].role != role) continue;
    ++processes;
    for (const auto& [name, text] : EffectiveEnv(plan, plan.processes[id])) {
      variables[name].push_back({id, hidden.Shown(name, text.marked)});
    }
    std::vector<std::string> words;
    for (const Text& text : EffectiveCommand(plan, plan.processes[id])) words.push_back(text.marked);
    commands.push_back({id, plan.roles[role].shell && words.size() == 1 ? words[0] : ShellQuoted(words)});
  }
  Value::List environment;
  for (const auto& [name, texts] : variables) {
    environment.push_back(VariableValue(plan, texts, processes, name, word));
  }
  const std::vector<FoldedText> folded = FoldTexts(plan, commands);
  return Value(Value::Map{{"name", TextValue(plan.roles[role].name)},
                          {"kind", TextValue(plan.roles[role].plays)},
                          {"processes", CountValue(processes)},
                          {"command", TextValue(folded.empty() ? "" : folded[0].text)},
                          {"environment", Value(std::move(environment))}});
}

// A map with "parameters" and "roles". `folder`: descriptor of the run directory; `word`: how `muster explain` finds
// the run. Values that a record would hide are hidden.
Value PlanValue(const Plan& plan, int folder, const std::string& word) {
  const HiddenValues hidden(plan, {});
  Value::List roles;
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) roles.push_back(RoleValue(plan, role, hidden, word));
  return Value(Value::Map{{"parameters", Value(ParametersOf(plan, folder, word))}, {"roles", Value(std::move(roles))}});
}

// What the processes of a run have used over time, for its page: a line for each process, or the smallest, middle and
// largest of many.

constexpr std::size_t kMaxLines = 16;
constexpr std::size_t kMaxIntervals = 120;

// Smallest, middle and largest value over many processes, at equal intervals of time.
struct TimedValues {
  std::vector<double> at;  // ascending
  std::vector<double> values;
};

struct ValueBand {
  std::vector<double> at;  // the ends of the intervals in which any process has a value
  std::vector<double> low, median, high;
};

// Sorts the values; there is at least one.
double MedianOf(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
}

// At most `most` intervals (at least 1), as many as the longest series has points. A process has the last value that it
// had within an interval, or else in the one before.
ValueBand BandOf(const std::vector<TimedValues>& processes, std::size_t most) {
  ValueBand band;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  std::size_t longest = 0;
  for (const TimedValues& process : processes) {
    if (process.at.empty()) continue;
    first = std::min(first, process.at.front());
    last = std::max(last, process.at.back());
    longest = std::max(longest, process.at.size());
  }
  if (longest == 0) return band;
  const std::size_t intervals = std::clamp<std::size_t>(longest, 1, std::max<std::size_t>(most, 1));
  const double length = (last - first) / static_cast<double>(intervals);
  std::vector<std::size_t> next(processes.size(), 0);
  std::vector<double> values;
  for (std::size_t i = 1; i <= intervals; ++i) {
    const double end = i == intervals ? last : first + length * static_cast<double>(i);
    values.clear();
    for (std::size_t k = 0; k < processes.size(); ++k) {
      const TimedValues& process = processes[k];
      while (next[k] < process.at.size() && process.at[next[k]] <= end) ++next[k];
      if (next[k] > 0 && process.at[next[k] - 1] >= end - 2 * length) values.push_back(process.values[next[k] - 1]);
    }
    if (values.empty()) continue;
    band.at.push_back(end);
    band.median.push_back(MedianOf(values));
    band.low.push_back(values.front());
    band.high.push_back(values.back());
  }
  return band;
}

constexpr const char* kKinds[] = {"cores", "memory", "device"};

Value NumbersValue(const std::vector<double>& numbers) {
  Value::List list;
  for (const double number : numbers) list.emplace_back(std::round(number * 1e3) / 1e3);
  return Value(std::move(list));
}

// One of kKinds of a process over time, in cores or MiB; points without a value are omitted.
TimedValues SeriesOf(const std::vector<UsagePoint>& points, std::size_t kind) {
  TimedValues series;
  const std::vector<double> cores = kind == 0 ? CoresOf(points) : std::vector<double>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const UsagePoint& point = points[i];
    if (kind == 2 && !point.device_kib) continue;
    const double kib = static_cast<double>(kind == 2 ? *point.device_kib : point.memory_kib);
    series.at.push_back(static_cast<double>(point.at_ms) / 1000);
    series.values.push_back(kind == 0 ? cores[i] : kib / 1024);
  }
  return series;
}

Value LineValue(const TimedValues& series) {
  return Value(Value::Map{{"at", NumbersValue(series.at)}, {"values", NumbersValue(series.values)}});
}

Value BandValue(const UsageHistory& usage, std::size_t kind) {
  std::vector<TimedValues> all;
  for (const auto& [process, points] : usage.processes()) all.push_back(SeriesOf(points, kind));
  const ValueBand band = BandOf(all, kMaxIntervals);
  return Value(Value::Map{{"at", NumbersValue(band.at)},
                          {"low", NumbersValue(band.low)},
                          {"median", NumbersValue(band.median)},
                          {"high", NumbersValue(band.high)}});
}

// Null if the run has no samples.
Value UsageValue(const Plan& plan, int run_folder) {
  const UsageHistory usage = ReadUsage(run_folder, plan.processes.size());
  if (usage.processes().empty()) return {};
  Value::Map value = {{"processes", CountValue(usage.processes().size())}};
  Value::List lines;
  if (usage.processes().size() <= kMaxLines) {
    for (const auto& [id, points] : usage.processes()) {
      const Process& process = plan.processes[id];
      const std::string name = fmt::format("{}.{}", plan.roles[process.role].name, process.index);
      Value::Map line = {{"key", TextValue("0:" + name)}, {"name", TextValue(name)}};
      for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
        line[kKinds[kind]] = LineValue(SeriesOf(points, kind));
      }
      lines.emplace_back(std::move(line));
    }
    value["lines"] = Value(std::move(lines));
    return Value(std::move(value));
  }
  Value::Map bands;
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) bands[kKinds[kind]] = BandValue(usage, kind);
  value["bands"] = Value(std::move(bands));
  return Value(std::move(value));
}

constexpr std::size_t kMaxLogs = 64;
constexpr std::size_t kMaxCurveProcesses = 256;

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
  auto processes = ReadMetricHistories(run_dir, kMaxCurveProcesses);
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
  return reporting.size() - std::min(reporting.size(), kMaxCurveProcesses);
}

Value FailureValue(const Report& report, const FailureReport& failure) {
  const FailureAnalysis& analysis = failure.analysis;
  std::vector<std::string> evidence = analysis.evidence;
  for (const EvidenceFile& file : report.files) evidence.push_back(FileText(report, file));
  Value::List others;
  for (const FailedGroup& other : analysis.others) {
    others.emplace_back(Value::Map{{"who", TextValue(MembersText({other.who}))},
                                   {"why", TextValue(other.why)},
                                   {"hint", TextValue(other.error ? other.error->message : other.hint)},
                                   {"lines", TextsValue(other.lines)}});
  }
  Value::List timeline;
  for (const TimelineEntry& entry : analysis.timeline) {
    timeline.emplace_back(Value::Map{
        {"from", Value(entry.from)}, {"what", TextValue(entry.what)}, {"who", TextValue(MembersText(entry.who))}});
  }
  std::vector<std::string> doubts;
  for (const UncertainOrder& doubt : analysis.doubts) doubts.push_back(MembersText(doubt.who));
  for (const EarlierSign& sign : analysis.signs) doubts.push_back(SignText(sign));
  const std::string name = fmt::format("{}.{}", failure.role, failure.index);
  return Value(
      Value::Map{{"key", TextValue(KeyOf(failure.role, failure.index))},
                 {"process", TextValue(failure.rank ? fmt::format("{} (rank {})", name, *failure.rank) : name)},
                 {"host", TextValue(failure.host)},
                 {"why", TextValue(failure.why)},
                 {"after", Value(failure.after_seconds)},
                 {"hint", TextValue(analysis.hint)},
                 {"error", TextValue(analysis.error ? analysis.error->message : "")},
                 {"traceback", TextsValue(analysis.error ? analysis.error->traceback : std::vector<std::string>())},
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
      if (order.size() >= kMaxLogs || process.attempts.empty()) continue;
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

Value RestartsValue(const Report& report, const RunHistory& history) {
  Value::List restarts;
  for (const Recorded<RestartPlanned>& restart : history.restarts) {
    const ProcessReport& process = report.processes[restart.process];
    restarts.emplace_back(Value::Map{{"scope", TextValue(restart.scope)},
                                     {"process", TextValue(fmt::format("{}.{}", process.role, process.index))},
                                     {"at", Value(SecondsBetween(history.first.on_head, restart.on_head))},
                                     {"why", TextValue(restart.why)}});
  }
  return Value(std::move(restarts));
}

Value VerdictsValue(const Report& report, const RunHistory& history) {
  Value::List verdicts;
  for (const Recorded<FailureJudged>& judged : history.judged) {
    const ProcessReport& process = report.processes[judged.process];
    verdicts.emplace_back(Value::Map{{"process", TextValue(fmt::format("{}.{}", process.role, process.index))},
                                     {"host", TextValue(judged.host_name)},
                                     {"at", Value(SecondsBetween(history.first.on_head, judged.on_head))},
                                     {"verdict", TextValue(std::string(RestartVerdictName(judged.verdict)))},
                                     {"what", TextValue(judged.what)},
                                     {"evidence", TextValue(judged.evidence)}});
  }
  return Value(std::move(verdicts));
}

}  // namespace

Result<void> AddRun(const std::string& run_dir, PageContent& page) {
  const auto recorded = ReadRun(run_dir);
  if (!recorded) return Fail(recorded.error());
  const auto report = MakeReport(run_dir, *recorded);
  if (!report) return Fail(report.error());
  const Plan& plan = *recorded->plan;
  AddProcesses(*report, page);
  const std::optional<TrialOfRun> trial = FindTrialOfRun(run_dir);
  const std::size_t without_curves =
      AddCurves(run_dir, report->outcome != "running", trial ? trial->objective : "", page);
  RunLanes lanes = LaneMaker(plan, recorded->history).Make(*report);
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
                       {"began", TextValue(recorded->history.first.wall)},
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
                       {"restarts", RestartsValue(*report, recorded->history)},
                       {"verdicts", VerdictsValue(*report, recorded->history)},
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
