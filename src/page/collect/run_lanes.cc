#include "page/collect/run_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "page/collect/page_content.h"
#include "run/journal/journal.h"
#include "run/report/failure_analysis.h"

namespace muster {
namespace {

struct Span {
  double from = 0;
  std::optional<double> to;
  std::uint32_t attempt = 0;
  std::string state;
  std::string text;
};

struct Silence {
  std::uint64_t bytes = 0;
  double since = 0;  // when this size was seen first
};

struct Lane {
  std::vector<Span> spans;
  Value::List marks;
  Value::List silences;
  std::optional<Silence> output;
  bool stopped = false;  // muster has sent a signal to the current attempt
};

class LaneWalk {
 public:
  LaneWalk(const Plan& plan, const CheckedJournal& journal)
      : plan_(plan), clocks_(ClocksOf(plan, journal)), hosts_(plan, journal), lanes_(plan.processes.size()) {
    for (const JournalRecord& record : journal.records()) {
      if (!began_) began_ = record.at;
      last_ = Seconds(record.at);
      Take(record);
    }
    if (!phases_.empty()) phases_.back().second.second = last_;
  }

  RunLanes Make(const Report& report) {
    RunLanes result;
    result.seconds = last_;
    for (ProcessId id = 0; id < lanes_.size(); ++id) result.lanes.push_back(LaneValue(id, report.processes[id]));
    for (const auto& [name, span] : phases_) {
      result.phases.emplace_back(
          Value::Map{{"name", Value(name)}, {"from", Value(span.first)}, {"to", Value(span.second)}});
    }
    result.marks = std::move(marks_);
    return result;
  }

 private:
  double Seconds(MonotonicNs at) const { return SecondsBetween(*began_, at); }
  // On the head's clock, or when the head received it.
  double When(ProcessId process, std::uint32_t attempt, MonotonicNs at, const JournalRecord& record) const {
    return Seconds(OnHead({hosts_.Of(process, attempt), at, 0}, clocks_).value_or(record.at));
  }

  static Value Mark(const char* kind, double at, const std::string& text = {}) {
    return Value(Value::Map{{"kind", Value(kind)}, {"at", Value(at)}, {"text", TextValue(text)}});
  }

  Span* Open(ProcessId process) {
    std::vector<Span>& spans = lanes_[process].spans;
    return spans.empty() || spans.back().to ? nullptr : &spans.back();
  }
  void Close(ProcessId process, double at) {
    if (Span* span = Open(process)) span->to = std::max(at, span->from);
  }
  void Begin(ProcessId process, std::uint32_t attempt, double at, const char* state) {
    Close(process, at);
    lanes_[process].spans.push_back({.from = at, .to = {}, .attempt = attempt, .state = state, .text = {}});
  }

  bool HasReadiness(ProcessId process) const {
    const Readiness::Kind kind = plan_.roles[plan_.processes[process].role].ready.kind;
    return kind != Readiness::Kind::kStarted && kind != Readiness::Kind::kDone;
  }

  void Exited(const ProcessExited& e, const JournalRecord& record) {
    const double at = When(e.process, e.attempt, e.at, record);
    EndSilence(e.process, at);
    if (Span* span = Open(e.process)) {
      Lane& lane = lanes_[e.process];
      span->state = e.signalled ? lane.stopped ? "stopped" : "failed" : e.code == 0 ? "ok" : "failed";
      if (lane.stopped && e.code != 0) span->state = "stopped";
      span->text = e.signalled ? "ended by " + SignalName(e.code) : fmt::format("exited with code {}", e.code);
    }
    Close(e.process, at);
  }

  // A process whose log has not grown between two looks at it was silent in between.
  void Output(const OutputSeen& e, double at) {
    for (std::size_t i = 0; i < std::min(e.processes.size(), e.bytes.size()); ++i) {
      Lane& lane = lanes_[e.processes[i]];
      if (lane.output && lane.output->bytes == e.bytes[i]) continue;
      EndSilence(e.processes[i], at);
      lane.output = Silence{e.bytes[i], at};
    }
  }
  void EndSilence(ProcessId process, double at) {
    constexpr double kWorthShowing = 1;
    Lane& lane = lanes_[process];
    if (lane.output && at - lane.output->since > kWorthShowing) {
      lane.silences.emplace_back(Value::Map{{"from", Value(lane.output->since)}, {"to", Value(at)}});
    }
    lane.output.reset();
  }

  void Take(const JournalRecord& record) {
    const double at = Seconds(record.at);
    std::visit(Overloaded{
                   [&](const StartOrdered& e) {
                     lanes_[e.process].stopped = false;
                     Begin(e.process, e.attempt, at, "starting");
                   },
                   [&](const ProcessStarted& e) {
                     const double started = When(e.process, e.attempt, e.at, record);
                     Begin(e.process, e.attempt, started, HasReadiness(e.process) ? "starting" : "running");
                   },
                   [&](const ProcessReady& e) {
                     Begin(e.process, e.attempt, When(e.process, e.attempt, e.at, record), "running");
                   },
                   [&](const SpawnFailed& e) {
                     if (Span* span = Open(e.process)) {
                       span->state = "failed";
                       span->text = fmt::format("could not be started: {} {}", e.stage, e.detail);
                     }
                     Close(e.process, at);
                   },
                   [&](const ProcessExited& e) { Exited(e, record); },
                   [&](const SignalSent& e) {
                     Lane& lane = lanes_[e.process];
                     lane.stopped = true;
                     lane.marks.push_back(
                         Mark("signal", When(e.process, e.attempt, e.at, record), "was sent " + SignalName(e.signal)));
                   },
                   [&](const FirstFailure& e) { lanes_[e.process].marks.push_back(Mark("origin", at)); },
                   [&](const RestartPlanned& e) { lanes_[e.process].marks.push_back(Mark("restart", at, e.why)); },
                   [&](const LimitPassed& e) {
                     if (e.limit.starts_with("silent")) lanes_[e.process].marks.push_back(Mark("silent", at));
                   },
                   [&](const OutputSeen& e) { Output(e, at); },
                   [&](const CheckpointSeen& e) { marks_.push_back(Mark("checkpoint", at, e.path)); },
                   [&](const DumpOrdered& e) { marks_.push_back(Mark("dump", at, e.why)); },
                   [&](const StopRequested&) { marks_.push_back(Mark("stop", at)); },
                   [&](const PhaseChanged& e) {
                     if (!phases_.empty()) phases_.back().second.second = at;
                     if (phases_.empty()) phases_.push_back({std::string(PhaseName(e.from)), {0, at}});
                     phases_.push_back({std::string(PhaseName(e.to)), {at, at}});
                   },
                   [](const auto&) {},
               },
               record.entry);
  }

  Value LaneValue(ProcessId id, const ProcessReport& process) {
    Lane& lane = lanes_[id];
    if (lane.output) EndSilence(id, last_);
    Value::List spans;
    const bool still = process.verdict == "running";
    for (Span& span : lane.spans) {
      const bool last = &span == &lane.spans.back();
      // The last attempt has the process's verdict, which knows the others.
      if (last && span.state != "starting" && process.verdict != "not_started") span.state = process.verdict;
      if (last && !span.to && !still) span.state = "lost";
      spans.emplace_back(Value::Map{{"from", Value(span.from)},
                                    {"to", Value(span.to.value_or(last_))},
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
                            {"silences", Value(std::move(lane.silences))},
                            {"marks", Value(std::move(lane.marks))}});
  }

  const Plan& plan_;
  HostClocks clocks_;
  AttemptHosts hosts_;
  std::vector<Lane> lanes_;
  std::optional<MonotonicNs> began_;
  double last_ = 0;
  std::vector<std::pair<std::string, std::pair<double, double>>> phases_;
  Value::List marks_;
};

}  // namespace

RunLanes LanesOf(const Plan& plan, const CheckedJournal& journal, const Report& report) {
  return LaneWalk(plan, journal).Make(report);
}

}  // namespace muster
