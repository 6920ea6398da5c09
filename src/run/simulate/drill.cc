#include "run/simulate/drill.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::string_view kExample = "kill:worker:3@12s, stop:worker:1@20s+5s, agent:n2@30s or head@1m";
constexpr std::string_view kSteps = "steps";
// A cut that is clearly shorter than the lease is survived, one that is clearly longer is not.
constexpr double kSurvivedPart = 0.5;
constexpr double kLostPart = 1.5;

bool OfProcess(FaultKind kind) { return kind == FaultKind::kKill || kind == FaultKind::kStop || IsOfStub(kind); }
bool OfHead(FaultKind kind) {
  return kind == FaultKind::kHead || kind == FaultKind::kPreempt || kind == FaultKind::kTimeLimit;
}

// The process that the text means: its name, or its role and rank.
std::optional<ProcessId> ProcessMeant(const Plan& plan, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (ProcessName(plan, process) == text) return id;
    if (colon == std::string_view::npos || plan.roles[process.role].name != text.substr(0, colon)) continue;
    if (std::to_string(process.rank.value_or(process.index)) == text.substr(colon + 1)) return id;
  }
  return std::nullopt;
}

}  // namespace

tl::expected<DrillFault, std::string> ParseDrillFault(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return tl::unexpected(fmt::format("{} is no fault: {}; for example {}", Quoted(std::string(text)), why, kExample));
  };
  DrillFault fault;
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return refused("its time is missing");
  const std::string_view what = text.substr(0, at);
  std::string_view when = text.substr(at + 1);
  const std::size_t colon = what.find(':');
  const std::string_view kind = what.substr(0, colon);
  const auto found = std::find(kFaultKindNames.begin(), kFaultKindNames.end(), kind);
  if (found == kFaultKindNames.end()) return refused(fmt::format("there are {}", fmt::join(kFaultKindNames, ", ")));
  fault.kind = static_cast<FaultKind>(found - kFaultKindNames.begin());
  fault.target = colon == std::string_view::npos ? std::string_view() : what.substr(colon + 1);
  if (fault.target.empty() != OfHead(fault.kind))
    return refused(fault.target.empty() ? "its target is missing" : "the head has no target");
  if (fault.kind == FaultKind::kDisk && DiskOf(fault.target).second.empty())
    return refused("the folder of a disk begins with /, as in disk:/mnt/small@20s+10s or disk:n2:/mnt/small@20s+10s");
  if (when.ends_with(kSteps)) {
    const auto step = ParseNumber<std::uint64_t>(when.substr(0, when.size() - kSteps.size()));
    if (!IsOfStub(fault.kind)) return refused("only stubs have defects at a step: exit, exception, memory, port, hang");
    if (!step) return refused("its step is no number");
    fault.step = *step;
    return fault;
  }
  if (const std::size_t plus = when.find('+'); plus != std::string_view::npos) {
    const auto lasts = ParseDuration(when.substr(plus + 1));
    if (!lasts || *lasts <= 0) return refused("how long it lasts is no time");
    fault.lasts = *lasts;
    when = when.substr(0, plus);
  }
  const auto seconds = ParseDuration(when);
  if (!seconds || *seconds < 0) return refused("its time is none");
  fault.at = *seconds;
  const bool may_last = fault.kind == FaultKind::kStop || fault.kind == FaultKind::kSlow ||
                        fault.kind == FaultKind::kCut || fault.kind == FaultKind::kDisk;
  if (fault.lasts > 0 && !may_last) return refused("it lasts for good");
  if (fault.lasts == 0 && may_last && fault.kind != FaultKind::kStop)
    return refused("how long it lasts is missing: +5s");
  return fault;
}

std::string DrillFaultText(const DrillFault& fault) {
  FaultInjected injected;
  injected.kind = fault.kind;
  injected.lasts_ms = static_cast<std::uint64_t>(fault.lasts * 1000);
  (OfProcess(fault.kind) ? injected.process : injected.host) = fault.target;
  std::string text = FaultText(injected);
  if (fault.step) text += fmt::format(" at step {}", *fault.step);
  return text;
}

std::vector<DrillFault> FaultsOf(std::span<const SimulatedFailure> failures, const Plan& plan, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<DrillFault> faults;
  for (const SimulatedFailure& failure : failures) {
    if (failure.machine >= plan.hosts.size()) continue;
    std::vector<ProcessId> there;
    for (ProcessId process = 0; process < plan.processes.size(); ++process) {
      const Readiness::Kind ready = plan.roles[plan.processes[process].role].ready.kind;
      if (plan.processes[process].host == failure.machine && ready != Readiness::Kind::kDone) there.push_back(process);
    }
    if (there.empty()) continue;
    if (failure.down > 0) {
      faults.push_back({FaultKind::kAgent, plan.hosts[failure.machine].label, failure.at, 0});
    } else {
      const ProcessId victim = there[random() % there.size()];
      faults.push_back({FaultKind::kKill, ProcessName(plan, plan.processes[victim]), failure.at, 0});
    }
  }
  return faults;
}

std::string DrillPlace::NameOf(std::uint32_t machine) const {
  if (hosts.empty()) return plan->hosts[machine].label;
  return machine < hosts.size() ? hosts[machine].name : spares[machine - hosts.size()].name;
}

std::pair<std::string_view, std::string_view> DiskOf(std::string_view target) {
  const std::size_t slash = target.find('/');
  if (slash == 0) return {{}, target};
  if (slash == std::string_view::npos || target[slash - 1] != ':') return {target, {}};
  return {target.substr(0, slash - 1), target.substr(slash)};
}

double SilenceLimit(const Plan& plan, std::string_view process) {
  const auto id = ProcessMeant(plan, process);
  std::uint64_t ms = plan.roles[id ? plan.processes[*id].role : 0].limits.silent_ms;
  if (ms == 0 || (plan.silent_limit_ms > 0 && plan.silent_limit_ms < ms)) ms = plan.silent_limit_ms;
  return static_cast<double>(ms) / 1000;
}

namespace {

// Why the fault cannot be injected there, and what to do instead.
std::optional<Diagnostic> Refusal(const DrillFault& fault, const DrillPlace& place) {
  const auto refused = [&](const std::string& why, const std::string& hint) {
    return Error("drill", {}, fmt::format("{}: {}", DrillFaultText(fault), why), hint);
  };
  const double limit = OfProcess(fault.kind) ? SilenceLimit(*place.plan, fault.target) : 0;
  if (IsOfStub(fault.kind) && !place.stubs)
    return refused("only a stub fails at a word", "--stub; kill, stop or cut disturb the real programs");
  if (fault.kind == FaultKind::kHang && limit == 0) {
    return refused("it would hang for ever: the recipe has no limit of silence",
                   "limits = { silent = \"15m\" } in the recipe");
  }
  if (fault.kind == FaultKind::kStop && fault.lasts == 0 && limit == 0) {
    return refused("it would hang for ever: the recipe has no limit of silence",
                   "limits = { silent = \"15m\" } in the recipe, or an end: +5s");
  }
  if (fault.kind == FaultKind::kStop && limit > 0 && fault.lasts > limit * kSurvivedPart) {
    return refused(
        fmt::format("the recipe allows {} of silence, so that this may or may not be an end", DurationText(limit)),
        fmt::format("+{} at most, or without an end", DurationText(limit * kSurvivedPart)));
  }
  if (fault.kind == FaultKind::kCut && !place.holds_connections) {
    return refused("only connections over ssh can be held", "--host n[01-04], or agent:HOST to lose a host");
  }
  if (fault.kind == FaultKind::kCut && fault.lasts > place.lease_s * kSurvivedPart &&
      fault.lasts < place.lease_s * kLostPart) {
    return refused(fmt::format("the heartbeat timeout is {}, so that the host may or may not be lost",
                               DurationText(place.lease_s)),
                   fmt::format("+{} at most, or +{} at least; --host-lease changes it",
                               DurationText(place.lease_s * kSurvivedPart), DurationText(place.lease_s * kLostPart)));
  }
  return std::nullopt;
}

// Gives the target its name in the run, or says that there is none.
std::optional<Diagnostic> NameTarget(DrillFault& fault, const DrillPlace& place) {
  const Plan& plan = *place.plan;
  if (OfHead(fault.kind)) return std::nullopt;
  const auto process = OfProcess(fault.kind) ? ProcessMeant(plan, fault.target) : std::nullopt;
  if (process) {
    fault.target = ProcessName(plan, plan.processes[*process]);
    if (plan.roles[plan.processes[*process].role].ready.kind != Readiness::Kind::kDone) return std::nullopt;
    return Error("drill", {}, fault.target + " only prepares: it is over when the others run",
                 "a fault of another process");
  }
  const bool of_disk = fault.kind == FaultKind::kDisk;
  const std::string host(of_disk ? DiskOf(fault.target).first : fault.target);
  const std::string folder(of_disk ? DiskOf(fault.target).second : std::string_view());
  std::vector<std::string> names;
  for (std::uint32_t each = 0; each < plan.hosts.size(); ++each) {
    names.push_back(place.NameOf(each));
    const bool here = place.hosts.empty() && host == "localhost";
    const bool first = of_disk && host.empty();
    if (!here && !first && host != names.back() && host != plan.hosts[each].label) continue;
    fault.target = names.back() + (of_disk ? ":" + folder : "");
    // A defect is one of a process.
    if (!fault.step || host.empty()) return std::nullopt;
    break;
  }
  if (OfProcess(fault.kind)) {
    return Error(
        "drill", {}, fmt::format("there is no process {}", Quoted(fault.target)),
        fmt::format("processes are named as {} or, by rank, as worker:0", ProcessName(plan, plan.processes.front())));
  }
  return Error("drill", {}, fmt::format("the run has no host {}", Quoted(host)),
               "it has " + fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

Result<std::vector<DrillFault>> CheckFaults(std::vector<DrillFault> faults, const DrillPlace& place) {
  Diagnostics problems;
  for (DrillFault& fault : faults) {
    auto named = NameTarget(fault, place);
    if (named) problems.push_back(*std::move(named));
    if (named) continue;
    if (auto refusal = Refusal(fault, place)) problems.push_back(*std::move(refusal));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  std::stable_sort(faults.begin(), faults.end(), [](const DrillFault& a, const DrillFault& b) { return a.at < b.at; });
  return faults;
}

// --- checkpoints ------------------------------------------------------------------------------------

namespace {

// The last number in the part of the path that the pattern of checkpoints matches; nothing without one.
std::optional<double> StepInName(const CheckpointPlace& place, std::string_view path) {
  std::size_t begin = path.size();
  for (auto left = 1 + std::count(place.latest.begin(), place.latest.end(), '/'); left > 0 && begin > 0; --left) {
    const std::size_t slash = path.rfind('/', begin - 1);
    begin = slash == std::string_view::npos ? 0 : slash;
  }
  const std::size_t end = path.find_last_of("0123456789");
  if (end == std::string_view::npos || end < begin) return std::nullopt;
  const std::size_t before = path.find_last_not_of("0123456789", end);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  const auto number = ParseNumber<std::uint64_t>(path.substr(first, end + 1 - first));
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

}  // namespace

Continuation JudgeContinuation(const CheckpointPlace& place, const std::string& newest,
                               std::span<const std::string> known, const ReportedSteps& again,
                               const ReportedSteps& before, double begun) {
  if (again.first <= begun) return {CheckpointUse::kNone};
  const auto step = StepInName(place, newest);
  const auto fits = [&](double number) { return number <= again.first && again.first <= number + again.interval; };
  // A name with a greater number than all steps until then does not say at which step it was written.
  if (!step || *step > before.last + before.interval) return {};
  bool newest_fits = fits(*step);
  const std::string* older = nullptr;
  double older_step = 0;
  for (const std::string& path : known) {
    const auto number = StepInName(place, path);
    if (!number || !fits(*number)) continue;
    if (*number >= *step) {
      newest_fits = true;  // also one that was written between the failure and the restart
    } else if (older == nullptr || *number > older_step) {
      older = &path;
      older_step = *number;
    }
  }
  if (older != nullptr && newest_fits) return {};
  if (older != nullptr) return {CheckpointUse::kOlder, *older};
  return {newest_fits ? CheckpointUse::kNewest : CheckpointUse::kUnknown};
}

std::string ContinuationFault(const Continuation& continuation, const std::string& newest, const ReportedSteps& again) {
  if (continuation.use == CheckpointUse::kNone)
    return fmt::format("it began again at step {}, and not from {}", again.first, newest);
  if (continuation.use == CheckpointUse::kOlder)
    return fmt::format("it continued from {}, and not from the newest checkpoint {}", continuation.from, newest);
  return {};
}

namespace {

// --- decisions, of a run and of its simulation ------------------------------------------------------

struct NumberedDecision : DrillDecision {
  std::string failure_class;
  std::uint64_t seq = 0;  // of its record; of a simulation 0
  double at = 0;
};

class Decisions {
 public:
  template <class Fact>
  void Take(const Fact& fact, std::uint64_t seq = 0, double at = 0) {
    if constexpr (std::is_same_v<Fact, FailureJudged>) {
      NumberedDecision decision;
      decision.process = fact.process;
      decision.attempt = fact.attempt;
      decision.machine = fact.host;
      decision.verdict = fact.verdict;
      decision.rule = fact.rule;
      decision.failure_class = fact.failure_class;
      decision.seq = seq;
      decision.at = at;
      all.push_back(std::move(decision));
    } else if constexpr (std::is_same_v<Fact, RestartPlanned>) {
      Last(seq).restarts.push_back({fact.scope, fact.processes, fact.count, fact.max});
    } else if constexpr (std::is_same_v<Fact, ReplaceOrdered>) {
      Last(seq).replacements.push_back({fact.host, fact.by});
    } else if constexpr (std::is_same_v<Fact, RunEnded>) {
      const bool failed = fact.cause == Cause::kFailed || fact.cause == Cause::kSpawn || fact.cause == Cause::kLost;
      if (failed) Last(seq).ends = true;
    }
  }
  std::vector<NumberedDecision> all;

 private:
  // Not every restart follows a failure: one that gets other ports, or after success.
  NumberedDecision& Last(std::uint64_t seq) {
    if (all.empty()) {
      all.emplace_back();
      all.back().seq = seq;
    }
    return all.back();
  }
};

std::string NamesText(const Plan& plan, const std::vector<ProcessId>& processes) {
  if (processes.size() == plan.processes.size()) return "the job";
  std::map<std::string, std::vector<std::uint32_t>> by_role;
  for (const ProcessId process : processes)
    by_role[plan.roles[plan.processes[process].role].name].push_back(plan.processes[process].index);
  std::string text;
  for (const auto& [role, numbers] : by_role)
    text += fmt::format("{}{}.{}", text.empty() ? "" : ", ", role, NumberListText(numbers));
  return text;
}

std::string DecisionText(const DrillPlace& place, const DrillDecision& decision) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (decision.verdict != RestartVerdict::kRestart)
    add(fmt::format("verdict {} ({})", RestartVerdictName(decision.verdict), decision.rule));
  for (const auto& [host, by] : decision.replacements)
    add(fmt::format("{} replaces {}", place.NameOf(by), place.NameOf(decision.machine)));
  for (const DrillDecision::Restart& restart : decision.restarts)
    add(fmt::format("restart {} of {}: {}", restart.count, restart.max, NamesText(*place.plan, restart.processes)));
  if (decision.ends) add("the run ends");
  return text.empty() ? "the run goes on" : text;
}

// --- what happened to the run, for its simulation ---------------------------------------------------

constexpr double kNsInSecond = 1e9;

using Attempt = std::pair<ProcessId, std::uint32_t>;

class RunInDrill final : private FailureSource {
 public:
  RunInDrill(const DrillPlace& place, std::span<const JournalRecord> records, const DrillEvidence& evidence)
      : place_(place), plan_(*place.plan), evidence_(evidence) {
    for (const JournalRecord& record : records) {
      now_ = record.at;
      seq_ = record.seq;
      std::visit(Overloaded{[&](const auto& entry) {
                   decisions_.Take(entry, record.seq, Now());
                   See(entry);
                 }},
                 record.entry);
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const SimulatedEvent& a, const SimulatedEvent& b) { return a.at < b.at; });
    known_ = evidence.checkpoints;
    for (const auto& [seq, path] : given_) known_.push_back(path);
    for (const auto& [attempt, judged] : judged_) known_.push_back(judged.checkpoint);
  }

  JudgedDrill Judge(const std::vector<VerdictRule>& rules, bool killed) {
    if (began_ == 0) decisions_.all.clear();  // nothing was started: the end says why
    const SimulatedDecisions simulation =
        DecisionsOn(plan_, place_.spares, rules, *this, events_, Seconds(now_) + (killed ? 0 : kBeyond));
    for (const Action& action : simulation.actions)
      std::visit([&](const auto& fact) { simulated_.Take(fact); }, action);
    if (simulation.ended) simulated_.Take(*simulation.ended);
    JudgedDrill judged;
    for (const Injected& fault : faults_) judged.rows.push_back(RowOf(fault));
    for (const NumberedDecision& decision : decisions_.all) {
      if (!explained_.contains(decision.seq)) judged.rows.push_back(RowOf(decision));
    }
    std::stable_sort(judged.rows.begin(), judged.rows.end(),
                     [](const DrillRow& a, const DrillRow& b) { return a.at < b.at; });
    if (!killed) judged.rows.push_back(EndRow(simulation.ended));
    judged.decisions = static_cast<std::uint32_t>(decisions_.all.size());
    for (std::size_t i = 0; i < decisions_.all.size() && i < simulated_.all.size(); ++i)
      judged.as_simulated += Same(decisions_.all[i], simulated_.all[i]) ? 1 : 0;
    return judged;
  }

 private:
  static constexpr double kBeyond = 3'600;                 // for what is left to be ended
  static constexpr const char* kUnknownClass = "unknown";  // of a failure that the run did not have

  struct Injected {
    FaultInjected fault;
    std::optional<ProcessId> process;
    std::uint32_t machine = 0;
    double at = 0;
    std::uint64_t seq = 0;
  };

  static bool Same(const DrillDecision& a, const DrillDecision& b) { return a == b; }

  double Seconds(MonotonicNs at) const {
    return began_ == 0 || at <= began_ ? 0 : static_cast<double>(at - began_) / kNsInSecond;
  }
  double Now() const { return Seconds(now_); }

  // What the verdicts of the run looked at is what those of the simulation look at.
  FailureTraits Look(const AskedFailure& failure) override {
    FailureTraits traits;
    traits.failure_class = traits.fingerprint = traits.what = kUnknownClass;
    const auto found = judged_.find({failure.who.process, failure.who.attempt});
    if (found == judged_.end()) return traits;
    const FailureJudged& judged = found->second;
    return {judged.failure_class, judged.fingerprint,   judged.what, judged.step,
            judged.checkpoint,    judged.checkpoint_at, judged.ready};
  }

  void See(const StartOrdered& e) {
    if (began_ == 0) began_ = now_;
    ordered_[e.process] = e.attempt;
  }
  void See(const ProcessStarted& e) {
    started_[{e.process, e.attempt}] = seq_;
    began_at_[e.process] = Now();
  }
  void See(const FailureJudged& e) {
    judged_.emplace(Attempt{e.process, e.attempt}, e);
    if (!events_.empty() && events_.back().kind == SimulatedEvent::Kind::kSilent && events_.back().process == e.process)
      events_.back().together = e.host_unclear;
  }
  void See(const StopOrdered& e) {
    for (const ProcessId process : e.processes) stopped_.insert({process, ordered_[process]});
  }
  void See(const FaultInjected& e) {
    if (e.kind == FaultKind::kHead) return;  // the run shows nothing after it
    Injected injected{e, std::nullopt, 0, Now(), seq_};
    if (OfProcess(e.kind)) injected.process = ProcessMeant(plan_, e.process);
    const std::size_t machines = plan_.hosts.size() + place_.spares.size();
    for (std::uint32_t machine = 0; machine < machines; ++machine) {
      if (place_.NameOf(machine) == e.host) injected.machine = machine;
    }
    if (e.kind == FaultKind::kCut && Loses(e))
      events_.push_back({Now(), SimulatedEvent::Kind::kHeld, 0, injected.machine, false, 0});
    faults_.push_back(std::move(injected));
  }
  void See(const ProcessExited& e) {
    if (stopped_.contains({e.process, e.attempt}) || !ended_.insert({e.process, e.attempt}).second) return;
    events_.push_back({Now(), SimulatedEvent::Kind::kExited, e.process, 0, e.signalled, e.code});
  }
  void See(const SpawnFailed& e) {
    started_[{e.process, e.attempt}] = seq_;
    events_.push_back(
        {Now(), SimulatedEvent::Kind::kNotStarted, e.process, 0, false, static_cast<std::int32_t>(e.attempt)});
  }
  void See(const AgentLost& e) {
    if (lost_.insert(e.host).second) events_.push_back({Now(), SimulatedEvent::Kind::kLost, 0, e.host, false, 0});
  }
  void See(const LimitPassed& e) {
    if (!e.limit.starts_with("silent")) return;
    // Looks are a quarter of the limit apart: early enough that the simulation has seen it by now, in that attempt.
    constexpr double kSeen = 1.25;
    const double at = std::max(Now() - kSeen * static_cast<double>(e.ms) / 1000, began_at_[e.process]);
    events_.push_back({at, SimulatedEvent::Kind::kSilent, e.process, 0, false, 0});
  }
  void See(const CheckpointSeen& e) {
    given_.emplace_hint(given_.end(), seq_, e.path);
    if (!e.run.empty()) resumed_ = e.path;
  }
  void See(const RestartPlanned& e) {
    for (const ProcessId process : e.processes) due_[process] = Now() + e.delay_ms / 1000.0;
  }
  void See(const StopRequested&) {
    if (!stop_asked_at_) stop_asked_at_ = Now();
    events_.push_back({Now(), SimulatedEvent::Kind::kStopAsked, 0, 0, false, 0});
  }
  void See(const RunEnded& e) { ended_run_ = e; }
  void See(const AgentEmpty& e) {
    started_processes_ += e.started;
    reaped_processes_ += e.reaped;
  }
  template <class Entry>
  void See(const Entry&) {}  // follows from these

  bool Loses(const FaultInjected& fault) const {
    return fault.kind == FaultKind::kAgent ||
           (fault.kind == FaultKind::kCut && static_cast<double>(fault.lasts_ms) / 1000 >= place_.lease_s * kLostPart);
  }
  // Whether the run has to react.
  bool Counts(const FaultInjected& fault) const {
    if (fault.kind == FaultKind::kStop) return fault.lasts_ms == 0 || Outlasts(fault);
    return fault.kind == FaultKind::kKill || IsOfStub(fault.kind) || Loses(fault);
  }
  // A stop that only ends so that the drill does.
  bool Outlasts(const FaultInjected& fault) const {
    const double limit = SilenceLimit(plan_, fault.process);
    return limit > 0 && static_cast<double>(fault.lasts_ms) / 1000 > limit;
  }

  // Whether the decision was made after the fault and before the next one, which waits until the job is whole again.
  bool Follows(const Injected& injected, const NumberedDecision& decision) const {
    const auto next =
        std::find_if(faults_.begin(), faults_.end(), [&](const Injected& other) { return other.seq > injected.seq; });
    return decision.seq > injected.seq && (next == faults_.end() || decision.seq < next->seq);
  }
  // The decision about the failure of that attempt; null: there was none.
  static const NumberedDecision* About(const Decisions& decisions, std::optional<ProcessId> process,
                                       std::uint32_t attempt) {
    for (const NumberedDecision& each : decisions.all) {
      if (each.process && each.process == process && each.attempt == attempt) return &each;
    }
    return nullptr;
  }
  // … about the loss of that machine, which happens once.
  static const NumberedDecision* AboutLoss(const Decisions& decisions, std::uint32_t machine,
                                           std::string_view failure_class) {
    for (const NumberedDecision& each : decisions.all) {
      if (each.process && each.machine == machine && each.failure_class == failure_class) return &each;
    }
    return nullptr;
  }

  // Others may notice an end before the head does: a process that loses its peer fails by itself, and its failure is
  // decided on first. The first decision after the fault, before the next one, that covers its process or machine;
  // null: there is none.
  const NumberedDecision* Covering(const Injected& injected) const {
    const auto covers = [&](const NumberedDecision& each) {
      const bool host = std::any_of(each.replacements.begin(), each.replacements.end(),
                                    [&](const auto& replaced) { return replaced.host == injected.machine; });
      if (injected.fault.kind == FaultKind::kDisk) return each.failure_class == "disk";
      return each.ends || host || std::any_of(each.restarts.begin(), each.restarts.end(), [&](const auto& restart) {
               return std::any_of(restart.processes.begin(), restart.processes.end(), [&](ProcessId process) {
                 return injected.process ? process == *injected.process
                                         : plan_.processes[process].host == injected.machine;
               });
             });
    };
    for (const NumberedDecision& each : decisions_.all) {
      if (Follows(injected, each) && each.process && covers(each)) return &each;
    }
    return nullptr;
  }

  DrillRow RowOf(const Injected& injected) {
    const FaultInjected& fault = injected.fault;
    DrillRow row;
    FaultInjected said = fault;
    if (Outlasts(fault)) said.lasts_ms = 0;
    row.fault = FaultText(said);
    row.at = injected.at;
    if (OfHead(fault.kind)) return EngineEnds(std::move(row));
    const NumberedDecision* real = Loses(fault) ? AboutLoss(decisions_, injected.machine, "host")
                                                : About(decisions_, injected.process, fault.attempt);
    if (real != nullptr && !Follows(injected, *real)) real = nullptr;
    if (real == nullptr && (Counts(fault) || fault.kind == FaultKind::kDisk)) {
      real = Covering(injected);
      if (real != nullptr) row.fault += fmt::format(", by {}", ProcessName(plan_, plan_.processes[*real->process]));
    }
    const NumberedDecision* simulated = real != nullptr  ? About(simulated_, real->process, real->attempt)
                                        : !Counts(fault) ? nullptr
                                        : Loses(fault)   ? AboutLoss(simulated_, injected.machine, kUnknownClass)
                                                         : About(simulated_, injected.process, fault.attempt);
    row.expected = simulated == nullptr ? "the run goes on" : DecisionText(place_, *simulated);
    row.happened = real == nullptr ? "the run goes on" : DecisionText(place_, *real);
    row.ok = (real == nullptr) == (simulated == nullptr) && (real == nullptr || Same(*real, *simulated)) &&
             (fault.kind == FaultKind::kDisk || (real != nullptr) == Counts(fault));
    if (real != nullptr && simulated != nullptr) TellRules(*real, *simulated, row);
    if (real == nullptr && Counts(fault)) row.happened += ": nobody has noticed it";
    if (simulated == nullptr && Counts(fault)) row.expected = "it is noticed";
    if (real == nullptr) return row;
    explained_.insert(real->seq);
    CheckPromises(*real, row);
    return row;
  }
  // Where the decisions differ and their texts do not.
  static void TellRules(const DrillDecision& real, const DrillDecision& simulated, DrillRow& row) {
    if (Same(real, simulated) || row.expected != row.happened) return;
    row.expected += fmt::format(", by the rule {}", Quoted(simulated.rule));
    row.happened += fmt::format(", by the rule {}", Quoted(real.rule));
  }
  // The engine ends the allocation, which the run has to obey.
  DrillRow EngineEnds(DrillRow row) const {
    row.expected = "the run stops";
    row.ok = ended_run_ && ended_run_->cause == Cause::kStopped;
    row.happened = row.ok ? row.expected : "the run goes on";
    return row;
  }
  // A failure that no fault explains.
  DrillRow RowOf(const NumberedDecision& real) {
    DrillRow row;
    if (!real.process) {
      row.fault = "(no failure)";
    } else {
      const auto& judged = judged_.at({*real.process, real.attempt});
      row.fault = fmt::format("(of itself) {}: {}", ProcessName(plan_, plan_.processes[*real.process]), judged.what);
    }
    row.happened = DecisionText(place_, real);
    row.expected = "the run goes on";
    row.ok = false;
    if (const NumberedDecision* const simulated = About(simulated_, real.process, real.attempt)) {
      row.expected = DecisionText(place_, *simulated);
      row.ok = Same(real, *simulated);
      TellRules(real, *simulated, row);
    }
    row.at = real.at;
    if (real.process) CheckPromises(real, row);
    return row;
  }

  // The restarts took place, and went on where the newest checkpoint is.
  void CheckPromises(const NumberedDecision& real, DrillRow& row) {
    for (const DrillDecision::Restart& restart : real.restarts) {
      for (const ProcessId process : restart.processes) {
        if (FirstAfter(process, real.seq) || real.ends || row.happened.ends_with("not started again")) continue;
        const auto due = due_.find(process);
        // It also waits for the ends of those that are started with it.
        constexpr double kUntilOthersEnd = 1;
        if (stop_asked_at_ && due != due_.end() && *stop_asked_at_ < due->second + kUntilOthersEnd) {
          row.happened += "; the run was stopped before it took place";
          row.expected = row.happened;
          return;
        }
        row.ok = false;
        row.happened += fmt::format("; {} was not started again", ProcessName(plan_, plan_.processes[process]));
      }
    }
    if (real.restarts.empty() || !real.process) return;
    const auto judged = judged_.find({*real.process, real.attempt});
    if (judged == judged_.end()) return;
    if (!judged->second.checkpoint.empty()) row.checkpoint = CheckpointUse::kUnknown;
    // The process that failed, or the first of those that were started with it that reports steps.
    std::vector<ProcessId> reporters = {*real.process};
    for (const DrillDecision::Restart& restart : real.restarts)
      reporters.insert(reporters.end(), restart.processes.begin(), restart.processes.end());
    for (const ProcessId process : reporters) {
      const std::optional<std::uint32_t> attempt = FirstAfter(process, real.seq);
      if (!attempt || *attempt == 0) continue;
      const auto again = evidence_.steps(process, *attempt);
      const auto before = evidence_.steps(process, *attempt - 1);
      if (!again || !before) continue;
      row.lost = std::max(0.0, before->last - again->first + 1);
      if (!row.checkpoint) return;
      const std::string newest = NewestAtStart(judged->second.checkpoint, started_.at({process, *attempt}));
      const Continuation continuation = JudgeContinuation(plan_.checkpoints, newest, known_, *again, *before,
                                                          FirstOfAll(process, newest).value_or(again->first - 1));
      row.checkpoint = continuation.use;
      const std::string wrong = ContinuationFault(continuation, newest, *again);
      if (wrong.empty()) return;
      row.ok = false;
      row.happened += "; " + wrong;
      return;
    }
  }
  // The first step of a process that continues from no checkpoint. Where the run itself continued from the newest one,
  // a step less than it began with.
  std::optional<double> FirstOfAll(ProcessId process, const std::string& newest) const {
    const auto begun = evidence_.steps(process, 0);
    if (!begun) return std::nullopt;
    return newest == resumed_ ? begun->first - begun->interval : begun->first;
  }
  // The newest one when the failure was judged, or what processes were given that started at that record, whichever is
  // newer.
  std::string NewestAtStart(const std::string& at_failure, std::uint64_t start) const {
    const auto after = given_.lower_bound(start);
    if (after == given_.begin()) return at_failure;
    const std::string& given = std::prev(after)->second;
    const auto older = StepInName(plan_.checkpoints, at_failure);
    const auto newer = StepInName(plan_.checkpoints, given);
    return older && newer && *newer > *older ? given : at_failure;
  }
  // The attempt of the process that was started next after that record.
  std::optional<std::uint32_t> FirstAfter(ProcessId process, std::uint64_t seq) const {
    for (auto each = started_.lower_bound({process, 0}); each != started_.end() && each->first.first == process;
         ++each) {
      if (each->second > seq) return each->first.second;
    }
    return std::nullopt;
  }

  static std::string EndingText(const RunEnded& ended) {
    return fmt::format("{}, exit code {}", OutcomeName(ended.cause), ended.exit_code);
  }
  DrillRow EndRow(const std::optional<RunEnded>& simulated) const {
    DrillRow row;
    row.fault = "(the end)";
    row.at = Now();
    row.expected = simulated ? EndingText(*simulated) : "the run goes on";
    row.happened = ended_run_ ? EndingText(*ended_run_) : "its head was killed";
    if (began_ == 0 && ended_run_) {  // nothing that is simulated took place
      row.expected = "the processes are started";
      row.happened += "; " + ended_run_->why;
      row.ok = false;
      return row;
    }
    row.ok = simulated && ended_run_ && simulated->cause == ended_run_->cause &&
             simulated->exit_code == ended_run_->exit_code;
    if (started_processes_ == reaped_processes_) return row;
    row.ok = false;
    row.happened +=
        fmt::format("; {} of {} processes were left", started_processes_ - reaped_processes_, started_processes_);
    return row;
  }

  const DrillPlace& place_;
  const Plan& plan_;
  const DrillEvidence& evidence_;
  MonotonicNs began_ = 0;  // the first start
  MonotonicNs now_ = 0;
  std::uint64_t seq_ = 0;
  Decisions decisions_;
  Decisions simulated_;
  std::vector<Injected> faults_;
  std::vector<SimulatedEvent> events_;
  std::map<Attempt, FailureJudged> judged_;
  std::map<ProcessId, std::uint32_t> ordered_;  // the newest attempt, which may not have been started yet
  std::map<Attempt, std::uint64_t> started_;    // with the record
  std::map<ProcessId, double> began_at_;        // the latest attempt
  std::map<ProcessId, double> due_;             // the latest restart
  std::map<std::uint64_t, std::string> given_;  // checkpoints to continue from, by the record
  std::string resumed_;                         // the one that the run continued from; empty: none
  std::vector<std::string> known_;              // complete checkpoints
  std::set<Attempt> stopped_;                   // by muster
  std::optional<double> stop_asked_at_;
  std::set<Attempt> ended_;
  std::set<std::uint32_t> lost_;  // machines
  std::set<std::uint64_t> explained_;
  std::optional<RunEnded> ended_run_;
  std::uint64_t started_processes_ = 0;
  std::uint64_t reaped_processes_ = 0;
};

}  // namespace

JudgedDrill JudgeDrill(const DrillPlace& place, std::span<const JournalRecord> records, const DrillEvidence& evidence,
                       const std::vector<VerdictRule>& rules, bool killed) {
  return RunInDrill(place, records, evidence).Judge(rules, killed);
}

}  // namespace muster
