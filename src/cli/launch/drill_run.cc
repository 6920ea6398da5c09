#include "cli/launch/drill_run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/fillable_disk.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_text.h"
#include "cli/command/command_line.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "cli/plan/failure_trace.h"
#include "metrics/growing_file.h"
#include "metrics/metrics_line.h"
#include "run/control/control_protocol.h"
#include "run/directory/checkpoints.h"
#include "run/journal/journal.h"
#include "run/report/failure_fingerprint.h"
#include "run/simulate/drill.h"
#include "run/start/rehearsal_plan.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/forks.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::uintmax_t kMaxFaultsFile = 1U << 20;
constexpr std::size_t kMaxFaults = 10'000;
constexpr int kLookMs = 20;
constexpr double kNsInSecond = 1e9;
// A process that is stopped for good and that nobody misses goes on after the limit of silence, twice, and this.
constexpr double kUnnoticedS = 10;
constexpr double kStubsAfterS = 5;
// The run is not stopped sooner after a fault, so that it is seen what follows from the last one.
constexpr double kFollowsWithinS = 0.5;
constexpr std::uint64_t kAgentsEndNs = 30'000'000'000;

// What the drill prints.

struct PrintedFault {
  std::string run;
  double at = 0;
  std::string fault;
  std::string outcome;  // "ok", "wrong", "missed"
  std::string expected;
  std::string happened;
  std::optional<double> steps_lost;
  std::optional<CheckpointUse> checkpoint = {};
};
template <class V>
void Parts(V& v, const PrintedFault& fault) {
  v("run", fault.run), v("at", fault.at), v("fault", fault.fault), v("outcome", fault.outcome);
  v("expected", fault.expected), v("happened", fault.happened), v("steps_lost", fault.steps_lost);
  v("checkpoint",
    fault.checkpoint ? std::optional(kCheckpointUseNames[static_cast<std::size_t>(*fault.checkpoint)]) : std::nullopt);
}
struct PrintedRun {
  std::string run;
  std::string run_dir;
  std::int32_t exit_code = 0;
};
template <class V>
void Parts(V& v, const PrintedRun& run) {
  v("run", run.run), v("run_dir", run.run_dir), v("exit_code", run.exit_code);
}
struct PrintedDrill {
  std::string name;
  bool ok = true;
  std::vector<PrintedRun> runs;
  std::vector<PrintedFault> faults;
  std::uint64_t decisions = 0;
  std::uint64_t as_simulated = 0;
  double steps_lost = 0;
};
template <class V>
void Parts(V& v, const PrintedDrill& drill) {
  v("format", 1), v("name", drill.name), v("ok", drill.ok), v("runs", drill.runs), v("faults", drill.faults);
  v("decisions", drill.decisions), v("as_simulated", drill.as_simulated), v("steps_lost", drill.steps_lost);
}

std::string TextOf(const PrintedFault& fault) {
  std::string text = fmt::format("  {:>8} {:<6} {}", DurationText(std::round(fault.at * 10) / 10),
                                 fault.outcome == "ok"      ? "ok"
                                 : fault.outcome == "wrong" ? "WRONG"
                                                            : fault.outcome,
                                 fault.fault);
  if (fault.outcome == "missed") return text + ": " + fault.happened + "\n";
  std::string lost;
  if (fault.checkpoint == CheckpointUse::kNewest) lost += "; from the newest checkpoint";
  if (fault.checkpoint == CheckpointUse::kUnknown) lost += "; whether from the newest checkpoint is not known";
  if (fault.steps_lost) lost += fmt::format("; {} steps again", ShownNumber(*fault.steps_lost));
  if (fault.expected == fault.happened) return text + ": " + fault.happened + lost + "\n";
  return text + fmt::format("{}\n{:18}expected: {}\n{:18}happened: {}\n", lost, "", fault.expected, "", fault.happened);
}

std::string TextOf(const PrintedDrill& drill) {
  std::string text = fmt::format("drill of {}: {}\n", Printable(drill.name), drill.ok ? "all as promised" : "FAILED");
  for (const PrintedFault& fault : drill.faults) text += TextOf(fault);
  text += fmt::format("{} of {} decisions are those of the simulation; {} steps were done again\n", drill.as_simulated,
                      drill.decisions, ShownNumber(drill.steps_lost));
  for (const PrintedRun& run : drill.runs) text += fmt::format("run {} in {}\n", run.run, run.run_dir);
  return text;
}

// --- the head ---------------------------------------------------------------------------------------

// The run, in the child. Its first words are the run directory.
int RunAsChild(RunRequest& request, Transport& transport, UniqueFd line) {
  request.console.quiet = true;
  request.console.output = false;
  request.console.progress = false;
  request.on_directory = [&line](const std::string&, const std::string& run_dir) {
    WriteAll(line.get(), run_dir);
    line.reset();
  };
  const Result<RunOutcome> outcome = RunPlan(request, transport);
  if (!outcome) PrintDiagnostics(outcome.error());
  return outcome ? outcome->exit_code : ExitCodeFor(outcome.error());
}

// Ctrl-C reaches the head as well, which ends the run; SIGTERM is passed on.
volatile std::sig_atomic_t stop_asked = 0;

class StopSignals {
 public:
  StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      before_[i] = std::signal(kSignals[i], [](int) { stop_asked = 1; });
  }
  ~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<void (*)(int), 3> before_ = {};
};

double StepIn(std::string_view line) {
  const auto report = MetricsLine(line);
  const std::string metric = report ? StepMetric(*report) : std::string();
  const auto step = metric.empty() ? std::nullopt : FiniteNumber(report->at(metric));
  return step.value_or(std::nan(""));
}

std::optional<ReportedSteps> StepsOf(const Plan& plan, int run_dir, ProcessId process, std::uint32_t attempt) {
  const Process& of = plan.processes[process];
  GrowingFile file(GrowingFile::Kind::kMetrics, MetricsFileName{plan.roles[of.role].name, of.index, attempt}.Path(),
                   run_dir);
  std::optional<ReportedSteps> steps;
  if (!file.Open()) return steps;
  bool second = false;
  file.Read([&](std::string_view line, bool whole) {
    if (second || !whole) return;
    const double step = StepIn(line);
    if (!std::isfinite(step)) return;
    if (steps && step > steps->first) {
      steps->interval = step - steps->first;
      second = true;
    }
    if (!steps) steps = {.first = step, .last = step};
  });
  if (steps) steps->last = LastStep(plan, run_dir, process, attempt).value_or(steps->last);
  return steps;
}

// The complete checkpoints of the run.
std::vector<std::string> CheckpointsOf(const Plan& plan, const std::string& run_dir) {
  std::vector<std::string> paths;
  if (plan.checkpoints.dir.marked.empty()) return paths;
  const auto place = PlaceInRun(plan.checkpoints, run_dir);
  const auto complete = place ? CompleteCheckpoints(*place) : tl::unexpected(place.error());
  if (!complete) return paths;
  for (const Checkpoint& checkpoint : *complete) paths.push_back(checkpoint.path);
  return paths;
}

}  // namespace

// --- the drill --------------------------------------------------------------------------------------

class Drill::State {
 public:
  explicit State(DrillOptions given) : options(std::move(given)) {}

  Result<void> Run(RunRequest request, Transport& transport);
  std::string ToResume() const { return resume_from_; }
  bool CannotResume(const Diagnostics& why);
  int Finish();

  DrillOptions options;

 private:
  Result<void> Prepare(const RunRequest& request);
  Result<void> ChooseFaults(const RunRequest& request);
  Result<std::vector<DrillFault>> GivenFaults() const;
  Result<void> UseStubs(RunRequest& request) const;
  // Injects what is due until the head is over. Returns its exit code.
  int Follow(ForkedCopy& head, const std::string& run_dir);
  // kLater: it has to be tried again.
  enum class Injection : std::uint8_t { kDone, kMissed, kLater };
  Injection Inject(const DrillFault& fault, ControlConnection& control, ForkedCopy& head);
  double UnnoticedAfter(const DrillFault& fault) const;
  void Judge(const std::string& run_dir, int exit_code);
  void JudgeResumption(const std::string& run, double at, const DrillEvidence& evidence,
                       std::span<const JournalRecord> records);
  void JudgeHeadEnd(const std::string& run_dir, const std::string& run);
  void MissRest(const std::string& why);
  void MissDefects();
  double Now() const { return static_cast<double>(MonotonicNowNs() - began_) / kNsInSecond; }

  Plan plan_;
  DrillPlace place_;
  std::vector<VerdictRule> rules_;
  std::deque<DrillFault> faults_;
  std::deque<DrillFault> defects_;  // of stubs
  std::optional<double> time_s_;
  bool chosen_ = false;
  bool stopped_ = false;
  std::uint64_t began_ = 0;  // all processes ran for the first time; 0: not yet
  double busy_until_ = 0;    // of the last fault
  // After one that ends processes: the attempts of all of them then, which change if it is noticed.
  std::optional<std::uint64_t> quiet_;
  double quiet_until_ = 0;
  double followed_at_ = 0;  // the last fault
  bool head_killed_ = false;
  double head_killed_at_ = 0;
  std::string checkpoint_;  // from which this run continues
  std::string resume_from_;
  std::uint32_t resumed_ = 0;
  std::vector<std::string> checkpoints_;  // of all runs so far
  std::optional<double> first_step_;      // of the first run
  std::optional<ReportedSteps> before_;   // of the last run, by the process that reports
  int never_began_ = 0;
  PrintedDrill printed_;
};

// Whether only a limit of silence ends it.
bool EndsWithSilence(const DrillFault& fault) {
  return fault.kind == FaultKind::kHang || (fault.kind == FaultKind::kStop && fault.lasts == 0);
}

Result<std::vector<DrillFault>> Drill::State::GivenFaults() const {
  Diagnostics problems;
  std::vector<DrillFault> faults;
  const auto take = [&](const std::string& text, const Place& place) {
    auto fault = ParseDrillFault(text);
    if (fault) return faults.push_back(*std::move(fault));
    problems.push_back(Error("drill", place, fault.error()));
  };
  for (const std::string& text : options.inject) take(text, {});
  if (!options.faults.empty()) {
    const auto text = ReadSmallFile(options.faults, kMaxFaultsFile);
    if (!text) return Fail(Error("file", {}, text.error()));
    std::uint32_t number = 0;
    for (std::size_t begin = 0; begin < text->size();) {
      const std::size_t end = std::min(text->find('\n', begin), text->size());
      const std::string line(Trimmed(text->substr(begin, std::min(end, text->find('#', begin)) - begin)));
      begin = end + 1;
      ++number;
      if (!line.empty()) take(line, {options.faults, number});
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  const auto down = DurationOption("--down", options.down, true);
  if (!down) return Fail(down.error());
  std::vector<SimulatedFailure> failures;
  if (!options.failures.empty()) {
    auto trace = ReadFailureTrace(options.failures, *down);
    if (!trace) return Fail(std::move(trace.error()));
    failures = *std::move(trace);
    if (!(options.faster > 0) || !std::isfinite(options.faster))
      return Fail(Error("usage", {}, "--faster must be above 0, for example --faster 1000"));
    for (SimulatedFailure& failure : failures) failure.at /= options.faster;
    const auto left_out = LeaveOutOtherHosts(failures, plan_.hosts.size(), options.failures);
    if (!left_out) return Fail(left_out.error());
    PrintDiagnostics(*left_out);
  }
  if (!options.between.empty()) {
    const auto mean = DurationOption("--between", options.between);
    if (!mean) return Fail(mean.error());
    if (auto sound = CheckFailureShape(options.shape); !sound) return Fail(sound.error());
    if (!time_s_)
      return Fail(Error("usage", {}, "--between needs --time: for how long hosts fail", "for example --time 2m"));
    const auto drawn = DrawFailures({*mean, options.shape, *down}, static_cast<std::uint32_t>(plan_.hosts.size()),
                                    *time_s_, options.seed);
    failures.insert(failures.end(), drawn.begin(), drawn.end());
  }
  const auto of_hosts = FaultsOf(failures, plan_, options.seed);
  faults.insert(faults.end(), of_hosts.begin(), of_hosts.end());
  if (time_s_) std::erase_if(faults, [&](const DrillFault& fault) { return fault.at > *time_s_; });
  if (faults.empty()) {
    return Fail(Error("usage", {}, "no fault is given, or none before --time",
                      "--inject kill:worker:0@10s, --faults FILE, --failures FILE, or --between 30s --time 2m"));
  }
  if (faults.size() > kMaxFaults)
    return Fail(Error("usage", {}, fmt::format("there are more than {} faults", kMaxFaults)));
  return faults;
}

Result<void> Drill::State::ChooseFaults(const RunRequest& request) {
  if (!options.time.empty()) {
    const auto time = DurationOption("--time", options.time);
    if (!time) return Fail(time.error());
    time_s_ = *time;
  }
  auto given = GivenFaults();
  if (!given) return Fail(std::move(given.error()));
  auto checked = CheckFaults(*std::move(given), place_);
  if (!checked) return Fail(std::move(checked.error()));
  if (place_.hosts.empty()) {  // on others their agents look
    Diagnostics problems;
    const std::array needed = {request.run_dir.empty() ? request.runs_folder : request.run_dir};
    for (const DrillFault& fault : *checked) {
      if (fault.kind != FaultKind::kDisk) continue;
      if (const std::string why = WhyNotFilled(std::string(DiskOf(fault.target).second), needed); !why.empty())
        problems.push_back(Error("drill", {}, fmt::format("{}: {}", DrillFaultText(fault), why)));
    }
    if (!problems.empty()) return Fail(std::move(problems));
  }
  for (DrillFault& fault : *checked) (fault.step ? defects_ : faults_).push_back(std::move(fault));
  chosen_ = true;
  return {};
}

Result<void> Drill::State::UseStubs(RunRequest& request) const {
  if (!options.stub) return {};
  const auto step = DurationOption("--step", options.step);
  if (!step) return Fail(step.error());
  constexpr double kMostStep = 60;
  if (*step > kMostStep || *step < 0.001) return Fail(Error("usage", {}, "--step must be from 1ms to 1m"));
  TrainingSettings settings;
  settings.step_ms = static_cast<std::uint32_t>(*step * 1000);
  double last = time_s_.value_or(0);
  for (const DrillFault& fault : faults_)
    last = std::max(last, fault.at + (EndsWithSilence(fault) ? UnnoticedAfter(fault) : fault.lasts));
  for (const DrillFault& defect : defects_)
    settings.defects.push_back(
        {defect.target, std::string(kFaultKindNames[static_cast<std::size_t>(defect.kind)]), *defect.step});
  settings.steps =
      options.steps > 0 ? options.steps : static_cast<std::uint64_t>(std::ceil((last + kStubsAfterS) / *step));
  auto plan = TrainingStubPlan(std::move(request.plan), settings);
  if (!plan) return Fail(Error("drill", {}, plan.error(), "leave out --stub, to drill with the real programs"));
  request.plan = *std::move(plan);
  request.rehearsal = true;
  return {};
}

Result<void> Drill::State::Run(RunRequest request, Transport& transport) {
  plan_ = request.plan;
  place_ = {&plan_,
            request.hosts,
            request.spares,
            transport.remote() && transport.name() == "ssh",
            transport.remote() ? static_cast<double>(transport.lease_ms()) / 1000 : 0,
            options.stub};
  if (plan_.hosts.empty() || plan_.processes.empty())
    return Fail(Error("usage", {}, fmt::format("{} has no processes to drill", Quoted(plan_.name))));
  if (!chosen_) {
    if (auto chosen = ChooseFaults(request); !chosen) return chosen;
  }
  if (auto used = UseStubs(request); !used) return used;
  request.drill = true;
  // Its failures say nothing about hosts, and nobody is to be woken.
  request.on_bad_hosts = nullptr;
  request.on_used_hosts = nullptr;
  request.plan.notifications.clear();
  plan_ = request.plan;
  rules_ = request.verdict_rules;
  checkpoint_ = request.checkpoint;
  printed_.name = plan_.name;
  resume_from_.clear();
  head_killed_ = false;
  quiet_.reset();
  const StopSignals signals;
  auto head =
      ForkedCopy::Start([&](UniqueFd line) { return RunAsChild(request, transport, std::move(line)); }, SIGTERM);
  if (!head) return Fail(SystemError("drill", "the head cannot be started", head.error()));
  const std::string run_dir = head->Words();
  const int exit_code = Follow(*head, run_dir);
  if (run_dir.empty()) {
    never_began_ = exit_code;
    return {};
  }
  Judge(run_dir, exit_code);
  if (stopped_) {
    MissRest("the run was stopped before");
  } else if (exit_code == 0) {
    MissRest("the job was done before");
  } else if (resumed_ >= options.resumes) {
    MissRest(options.resumes == 0 ? "the run had ended: --resumes lets another one continue from its checkpoint"
                                  : "the last run had ended");
  } else {  // also after the last fault: that another run continues is part of what the recipe promises
    ++resumed_;
    resume_from_ = run_dir;
  }
  return {};
}

// Whether all processes run that should.
bool IsWhole(const ProcessStatuses& statuses) {
  return std::all_of(statuses.processes.begin(), statuses.processes.end(), [](const ProcessStatus& process) {
    return process.state == "running" || (process.state == "ended" && process.exit_code == 0);
  });
}

// Whether processes end by it, or because of it, before another fault is injected.
bool EndsProcesses(const DrillFault& fault) {
  return EndsWithSilence(fault) || fault.kind == FaultKind::kKill || fault.kind == FaultKind::kAgent ||
         IsOfStub(fault.kind);
}

std::uint64_t Attempts(const ProcessStatuses& statuses) {
  std::uint64_t attempts = 0;
  for (const ProcessStatus& process : statuses.processes) attempts += process.attempt;
  return attempts;
}

int Drill::State::Follow(ForkedCopy& head, const std::string& run_dir) {
  std::optional<ControlConnection> control;
  bool passed_on = false;
  const std::uint64_t head_began = MonotonicNowNs();
  while (!head.Over()) {
    ::poll(nullptr, 0, kLookMs);
    if (stop_asked != 0 && !std::exchange(passed_on, true)) {
      stopped_ = true;
      head.Signal(SIGTERM);
    }
    if (run_dir.empty() || stopped_ || head_killed_) continue;
    if (!control) {
      if (auto opened = ControlConnection::Open(run_dir)) control.emplace(*std::move(opened));
      continue;
    }
    const double now = began_ != 0 ? Now() : static_cast<double>(MonotonicNowNs() - head_began) / kNsInSecond;
    const bool time_is_over = time_s_ && now >= *time_s_ && now >= followed_at_ && (faults_.empty() || began_ == 0);
    const bool due = !faults_.empty() && (began_ == 0 || (Now() >= faults_.front().at && Now() >= busy_until_));
    if (!due && !time_is_over) continue;
    const auto status = control->Ask({.ask = ControlRequest::Ask::kProcesses});
    if (status && status->processes && quiet_ && Attempts(*status->processes) == *quiet_ && Now() < quiet_until_)
      continue;
    if (time_is_over) {
      stopped_ = true;
      static_cast<void>(control->Ask({.ask = ControlRequest::Ask::kStop}));
      continue;
    }
    if (!status || !status->processes || !IsWhole(*status->processes)) continue;
    if (began_ == 0) {
      began_ = MonotonicNowNs();
      continue;
    }
    quiet_.reset();
    const DrillFault fault = faults_.front();
    const Injection injection = Inject(fault, *control, head);
    if (injection == Injection::kLater) continue;
    faults_.pop_front();
    if (injection == Injection::kMissed || !EndsProcesses(fault)) continue;
    quiet_ = Attempts(*status->processes);
    quiet_until_ = Now() + UnnoticedAfter(fault);
  }
  return *head.Over();
}

// When a process that has ended or fallen silent will not be missed any more.
double Drill::State::UnnoticedAfter(const DrillFault& fault) const {
  return (EndsWithSilence(fault) ? 2 * SilenceLimit(plan_, fault.target) : 0) + kUnnoticedS;
}

Drill::State::Injection Drill::State::Inject(const DrillFault& fault, ControlConnection& control, ForkedCopy& head) {
  const double at = Now();
  if (fault.kind == FaultKind::kHead) {
    head_killed_ = true;
    head_killed_at_ = at;
    // Recorded by the head itself, if it still can.
    const std::string kind(kFaultKindNames[static_cast<std::size_t>(fault.kind)]);
    static_cast<void>(control.Ask({.ask = ControlRequest::Ask::kFault, .fault = kind}));
    head.Signal(SIGKILL);
  } else {
    double lasts = fault.lasts;
    if (fault.kind == FaultKind::kStop && EndsWithSilence(fault)) lasts = UnnoticedAfter(fault);
    ControlRequest request;
    request.ask = ControlRequest::Ask::kFault;
    request.fault = kFaultKindNames[static_cast<std::size_t>(fault.kind)];
    request.target = fault.target.empty() ? "head" : fault.target;
    request.lasts_ms = static_cast<std::uint64_t>(lasts * 1000);
    const auto answer = control.Ask(request);
    if (answer && answer->under_way) return Injection::kLater;
    if (!answer) {
      if (head.Over()) return Injection::kLater;
      printed_.faults.push_back({{}, at, DrillFaultText(fault), "missed", {}, Sentence(answer.error()), {}});
      printed_.ok = false;
      return Injection::kMissed;
    }
    busy_until_ = Now() + fault.lasts;
    followed_at_ = busy_until_ + kFollowsWithinS;
  }
  const std::string line = fmt::format("muster: {:.1f} s: {}\n", at, DrillFaultText(fault));
  if (!options.json) std::fputs(PrintableLines(line).c_str(), stderr);
  return Injection::kDone;
}

void Drill::State::Judge(const std::string& run_dir, int exit_code) {
  std::vector<JournalRecord> records;
  ReadJournal(kJournalEntry.In(run_dir), [&](JournalRecord record) {
    records.push_back(std::move(record));
    return true;
  });
  const auto* const run = records.empty() ? nullptr : std::get_if<RunBegan>(&records.front().entry);
  if (run == nullptr) {
    printed_.ok = false;
    return;
  }
  printed_.runs.push_back({run->run_id, run_dir, exit_code});
  const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::string& path : CheckpointsOf(plan_, run_dir)) checkpoints_.push_back(std::move(path));
  const DrillEvidence evidence{
      [&](ProcessId process, std::uint32_t attempt) { return StepsOf(plan_, folder.get(), process, attempt); },
      checkpoints_};
  const JudgedDrill judged = JudgeDrill(place_, records, evidence, rules_, head_killed_);
  const auto first_start = std::find_if(records.begin(), records.end(), [](const JournalRecord& record) {
    return std::holds_alternative<StartOrdered>(record.entry);
  });
  // Both clocks are that of this machine.
  const double offset = began_ == 0 || first_start == records.end()
                            ? 0
                            : (static_cast<double>(first_start->at) - static_cast<double>(began_)) / kNsInSecond;
  JudgeResumption(run->run_id, std::max(0.0, offset), evidence, records);
  for (const DrillRow& row : judged.rows) {
    printed_.ok = printed_.ok && row.ok;
    printed_.steps_lost += row.lost.value_or(0);
    printed_.faults.push_back({run->run_id, std::max(0.0, row.at + offset), row.fault, row.ok ? "ok" : "wrong",
                               row.expected, row.happened, row.lost, row.checkpoint});
  }
  printed_.decisions += judged.decisions;
  printed_.as_simulated += judged.as_simulated;
  printed_.ok = printed_.ok && judged.decisions == judged.as_simulated;
  if (head_killed_) JudgeHeadEnd(run_dir, run->run_id);
}

// Whether a run that continues another one did so from the newest checkpoint, by the first process that reports steps.
void Drill::State::JudgeResumption(const std::string& run, double at, const DrillEvidence& evidence,
                                   std::span<const JournalRecord> records) {
  std::optional<ReportedSteps> first, last;
  for (ProcessId process = 0; process < plan_.processes.size() && !first; ++process) {
    first = evidence.steps(process, 0);
    for (const JournalRecord& record : records) {
      const auto* const started = first ? std::get_if<ProcessStarted>(&record.entry) : nullptr;
      if (started == nullptr || started->process != process) continue;
      if (const auto steps = evidence.steps(process, started->attempt)) last = steps;
    }
  }
  const auto before = std::exchange(before_, last);
  if (printed_.runs.size() == 1) {
    first_step_ = first ? std::optional(first->first) : std::nullopt;
  } else if (!checkpoint_.empty()) {
    const std::string expected = "continues from " + checkpoint_;
    PrintedFault row{run, at, "(resumed)", "ok", expected, expected, {}, CheckpointUse::kUnknown};
    if (!first || !before || !first_step_) {
      row.happened = "it was given that: no process reports steps";
    } else {
      const Continuation continuation =
          JudgeContinuation(plan_.checkpoints, checkpoint_, evidence.checkpoints, *first, *before, *first_step_);
      row.checkpoint = continuation.use;
      if (const std::string wrong = ContinuationFault(continuation, checkpoint_, *first); !wrong.empty()) {
        row.outcome = "wrong";
        row.happened = wrong;
        printed_.ok = false;
      }
    }
    printed_.faults.push_back(std::move(row));
  }
}

// Nobody is left that could say what the agents have done: their processes are looked for, on this machine.
void Drill::State::JudgeHeadEnd(const std::string&, const std::string& run) {
  const LeftoverMarks marks{run + "/", {}, {}, {}};
  const std::uint64_t end = MonotonicNowNs() + kAgentsEndNs;
  std::vector<Leftover> left = FindLeftovers(marks);
  while (!left.empty() && MonotonicNowNs() < end) {
    ::poll(nullptr, 0, kLookMs);
    left = FindLeftovers(marks);
  }
  PrintedFault row{run, head_killed_at_, "head", "ok", "every process ends", "every process ends", {}};
  if (!left.empty()) {
    row.outcome = "wrong";
    row.happened = fmt::format("{} (pid {}) still runs", left.front().name, left.front().process.pid);
    printed_.ok = false;
  }
  printed_.faults.push_back(std::move(row));
}

void Drill::State::MissRest(const std::string& why) {
  for (const DrillFault& fault : faults_) {
    printed_.faults.push_back({{}, fault.at, DrillFaultText(fault), "missed", {}, why, {}});
    printed_.ok = false;
  }
  faults_.clear();
}

// A defect shows as a failure that no fault of the run explains.
void Drill::State::MissDefects() {
  for (const DrillFault& defect : defects_) {
    const std::string row = fmt::format("(of itself) {}:", defect.target);
    const bool met = std::any_of(printed_.faults.begin(), printed_.faults.end(),
                                 [&](const PrintedFault& fault) { return fault.fault.starts_with(row); });
    if (met) continue;
    printed_.faults.push_back({{}, 0, DrillFaultText(defect), "missed", {}, "it did not get to that step", {}});
    printed_.ok = false;
  }
}

// That another run continues is a promise: one that cannot is a fault of the drill, if there is nothing else to report.
bool Drill::State::CannotResume(const Diagnostics& why) {
  if (resume_from_.empty()) return false;
  resume_from_.clear();
  printed_.faults.push_back({{}, 0, "(resumed)", "wrong", "continues from a checkpoint", Sentence(why), {}});
  printed_.ok = false;
  MissRest("no run continued");
  return true;
}

int Drill::State::Finish() {
  if (printed_.runs.empty()) return never_began_ == 0 ? kExitMachine : never_began_;
  MissDefects();
  const std::string text = options.json ? JsonOf<PartForms>(printed_, 2) + "\n" : TextOf(printed_);
  std::fputs(PrintableLines(text).c_str(), stdout);
  return printed_.ok ? kExitOk : 1;
}

Drill::Drill(DrillOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Drill::~Drill() = default;

Result<void> Drill::Run(RunRequest request, Transport& transport) { return state_->Run(std::move(request), transport); }

std::string Drill::ToResume() const { return state_->ToResume(); }

bool Drill::CannotResume(const Diagnostics& why) { return state_->CannotResume(why); }

int Drill::Finish() { return state_->Finish(); }

void AddDrillOptions(CLI::App& app, DrillOptions& options) {
  app.add_option("--inject", options.inject, "a fault, as kill:ROLE:RANK@TIME (muster docs drill)")
      ->type_name("FAULT")
      ->allow_extra_args(false);
  app.add_option("--faults", options.faults, "a file of such faults, one in each line")->type_name("FILE");
  auto* const failures =
      app.add_option("--failures", options.failures, "trace of failures: lines of seconds, host and seconds down");
  failures->type_name("FILE");
  app.add_option("--faster", options.faster, "divide the times of the trace by this (1)")
      ->type_name("NUMBER")
      ->needs(failures);
  auto* const between =
      app.add_option("--between", options.between, "mean time between failures of one host, drawn until --time");
  between->type_name("TIME")->excludes(failures);
  app.add_option("--shape", options.shape, "shape of their Weibull distribution (1: exponential)")
      ->type_name("NUMBER")
      ->needs(between);
  app.add_option("--down", options.down, "of failures: above 0 the host is lost; 0: a process is killed (0)")
      ->type_name("TIME");
  app.add_option("--seed", options.seed, "seed of what is drawn (1)")->type_name("N");
  app.add_option("--time", options.time, "stop the run after this time")->type_name("TIME");
  app.add_option("--resumes", options.resumes, "how many runs may continue from the checkpoint of one that ended")
      ->type_name("N");
  auto* const stub =
      app.add_flag("--stub", options.stub, "stubs that count steps and write checkpoints, instead of the programs");
  app.add_option("--step", options.step, "of stubs: how long a step takes (100ms)")->type_name("TIME")->needs(stub);
  app.add_option("--steps", options.steps, "of stubs: how many steps they do (until after the last fault)")
      ->type_name("N")
      ->needs(stub);
  app.add_flag("--json", options.json, "print JSON for programs");
}

std::string DrillSchema() {
  PrintedDrill drill;  // with an element of lists
  drill.runs.emplace_back();
  drill.faults.emplace_back();
  return SchemaOf<PartForms>(drill);
}

}  // namespace muster
