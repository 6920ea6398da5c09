#include "run/report/ledger.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();

constexpr std::array<std::string_view, kLedgerRows> kRowNames = {
    "queued",          "waiting_for_devices", "starting_place", "starting_inspect",
    "starting_ship",   "starting_start",      "starting_ready", "productive_kept",
    "productive_lost", "checkpoint_stalls",   "silent",         "failing_stopping",
    "idle_devices",    "unrecorded",          "active",         "checkpoint_time",
    "stopped",         "checkpoint_writing"};

// Of several processes on one device: the row that counts is the first of these.
constexpr std::array kPrecedence = {
    LedgerRow::kKept,       LedgerRow::kActive,          LedgerRow::kCheckpointTime, LedgerRow::kStopped,
    LedgerRow::kLost,       LedgerRow::kWriting,         LedgerRow::kCheckpoint,     LedgerRow::kReady,
    LedgerRow::kStart,      LedgerRow::kSilent,          LedgerRow::kShip,           LedgerRow::kInspect,
    LedgerRow::kPlace,      LedgerRow::kAwaitingDevices, LedgerRow::kStopping,       LedgerRow::kIdle,
    LedgerRow::kUnrecorded, LedgerRow::kQueued};
static_assert(kPrecedence.size() == kLedgerRows);

bool IsWork(LedgerRow row) {
  return row == LedgerRow::kKept || row == LedgerRow::kLost || row == LedgerRow::kActive ||
         row == LedgerRow::kCheckpointTime || row == LedgerRow::kStopped;
}

// In nanoseconds; at most `most`.
std::uint64_t Milliseconds(std::uint64_t ms, std::uint64_t most) {
  return std::min(ms, most / kMillisecond) * kMillisecond;
}

// --- how far work is kept ----------------------------------------------------------------------------------

// Work until `kept` is kept, work after `maybe` is lost; whether that in between is kept is not known, for the reason
// `why`. Times in UTC.
struct Cut {
  std::uint64_t kept = kEver;
  std::uint64_t maybe = kEver;
  LedgerRow why = LedgerRow::kCheckpointTime;

  static Cut At(std::uint64_t wall_ns) { return {wall_ns, wall_ns}; }
  static Cut Unknown(LedgerRow why, std::uint64_t kept = 0) { return {kept, kEver, why}; }
};

Cut EarlierOf(const Cut& a, const Cut& b) {
  return {std::min(a.kept, b.kept), std::min(a.maybe, b.maybe), a.kept < a.maybe ? a.why : b.why};
}

Cut LaterOf(const Cut& a, const Cut& b) {
  return {std::max(a.kept, b.kept), std::max(a.maybe, b.maybe), a.kept < a.maybe ? a.why : b.why};
}

// When the checkpoint was written.
Cut WrittenAt(const LedgerRun& run, const Recorded<CheckpointSeen>& seen) {
  if (seen.age_ms < 0) return Cut::Unknown(LedgerRow::kCheckpointTime);
  const std::uint64_t at = run.WallOf(seen.on_head);
  return Cut::At(at - Milliseconds(static_cast<std::uint64_t>(seen.age_ms), at));
}

// The checkpoint with which processes were started that were ordered after the record `seq`.
Cut InForce(const LedgerRun& run, std::uint64_t seq) {
  const auto& seen = run.history.checkpoints;
  const auto after = std::partition_point(seen.begin(), seen.end(), [seq](const auto& one) { return one.seq < seq; });
  return after == seen.begin() ? Cut::At(0) : WrittenAt(run, *std::prev(after));
}

// The checkpoint with which the run began.
Cut StartOf(const LedgerRun& run) {
  for (const auto& seen : run.history.checkpoints) {
    if (!seen.run.empty()) return WrittenAt(run, seen);
  }
  return Cut::At(0);
}

bool Succeeded(const LedgerRun& run) { return run.history.ended && run.history.ended->cause == Cause::kNone; }

// What became of the work of each run.
class Fates {
 public:
  explicit Fates(std::span<const LedgerRun> runs) : runs_(runs), continued_by_(runs.size()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].continues) continued_by_[*runs[i].continues].push_back(i);
    }
  }

  // Up to where the work of the last attempts of the run's processes is kept.
  Cut Of(std::size_t run) const {
    const LedgerRun& one = runs_[run];
    if (Succeeded(one) || one.result_used) return {};
    if (!continued_by_[run].empty()) return Continued(run);
    if (one.live) return Cut::Unknown(LedgerRow::kActive, one.newest_wall_ns.value_or(0));
    const bool named = !one.plan->checkpoints.dir.marked.empty();
    if (!named && one.history.ended && one.history.ended->cause == Cause::kStopped) {
      return Cut::Unknown(LedgerRow::kStopped);
    }
    if (!one.newest_wall_ns) return Cut::Unknown(LedgerRow::kCheckpointTime);
    return Cut::At(*one.newest_wall_ns);
  }

 private:
  // By the run that kept most.
  Cut Continued(std::size_t run) const {
    Cut cut = Cut::At(0);
    for (const std::size_t next : continued_by_[run]) cut = LaterOf(cut, KeptBy(next));
    return cut;
  }
  // How much of the work before the run it kept: what it began with, unless it was itself continued from something
  // older.
  Cut KeptBy(std::size_t run) const {
    const Cut start = StartOf(runs_[run]);
    if (Succeeded(runs_[run]) || continued_by_[run].empty()) return start;
    return EarlierOf(start, Continued(run));
  }

  std::span<const LedgerRun> runs_;
  std::vector<std::vector<std::size_t>> continued_by_;
};

// --- one device over time ----------------------------------------------------------------------------------

// Which row each moment from `begin` to `end` belongs to.
class Timeline {
 public:
  Timeline(MonotonicNs begin, MonotonicNs end) : begin_(begin), end_(std::max(begin, end)) {
    rows_[begin_] = LedgerRow::kUnrecorded;
  }

  void Paint(MonotonicNs from, MonotonicNs to, LedgerRow row) {
    from = std::max(from, begin_);
    to = std::min(to, end_);
    if (from >= to) return;
    const LedgerRow after = std::prev(rows_.upper_bound(to))->second;
    rows_.erase(rows_.lower_bound(from), rows_.lower_bound(to));
    rows_[from] = row;
    if (to < end_) rows_[to] = after;
  }
  // Where it is work.
  void PaintWork(MonotonicNs from, MonotonicNs to, LedgerRow row) {
    std::vector<std::pair<MonotonicNs, MonotonicNs>> parts;
    ForEachIn(from, to, [&](MonotonicNs begins, MonotonicNs ends, LedgerRow now) {
      if (IsWork(now)) parts.emplace_back(begins, ends);
    });
    for (const auto& [begins, ends] : parts) Paint(begins, ends, row);
  }
  // Where that of another process on the same device takes precedence.
  void Join(const Timeline& other) {
    std::vector<std::pair<MonotonicNs, MonotonicNs>> parts;
    other.ForEachIn(begin_, end_, [&](MonotonicNs begins, MonotonicNs ends, LedgerRow theirs) {
      parts.clear();
      ForEachIn(begins, ends, [&](MonotonicNs from, MonotonicNs to, LedgerRow mine) {
        if (Rank(theirs) < Rank(mine)) parts.emplace_back(from, to);
      });
      for (const auto& [from, to] : parts) Paint(from, to, theirs);
    });
  }
  void AddTo(Ledger& ledger, std::uint64_t devices) const {
    ForEachIn(begin_, end_, [&](MonotonicNs from, MonotonicNs to, LedgerRow row) {
      ledger.Of(row) += DeviceNs{to - from} * devices;
    });
  }

 private:
  static std::size_t Rank(LedgerRow row) {
    return static_cast<std::size_t>(std::find(kPrecedence.begin(), kPrecedence.end(), row) - kPrecedence.begin());
  }
  // The parts of the interval, in order.
  template <class Take>
  void ForEachIn(MonotonicNs from, MonotonicNs to, const Take& take) const {
    from = std::max(from, begin_);
    to = std::min(to, end_);
    if (from >= to) return;
    for (auto it = std::prev(rows_.upper_bound(from)); it != rows_.end() && it->first < to; ++it) {
      const auto next = std::next(it);
      take(std::max(from, it->first), next == rows_.end() ? to : std::min(to, next->first), it->second);
    }
  }

  MonotonicNs begin_;
  MonotonicNs end_;
  std::map<MonotonicNs, LedgerRow> rows_;  // by where each begins; the first one at begin_
};

// --- one run -----------------------------------------------------------------------------------------------

class RunLedger {
 public:
  RunLedger(const LedgerRun& run, const Cut& fate)
      : run_(run),
        history_(run.history),
        fate_(fate),
        begin_(history_.first.on_head),
        end_(std::max(run.until, history_.last.on_head)) {
    for (const Recorded<PhaseChanged>& phase : history_.phases) {
      if (phase.to >= Phase::kLingering) over_ = std::min(over_, phase.on_head);
    }
    for (const Recorded<RestartPlanned>& restart : history_.restarts) {
      for (const ProcessId process : restart.processes) restarts_[process].push_back(&restart);
    }
    for (const std::vector<AttemptHistory>& attempts : history_.attempts) {
      for (const AttemptHistory& attempt : attempts) {
        for (const Recorded<LimitPassed>& limit : attempt.limits) {
          if (limit.limit.starts_with("silent")) silences_found_.insert(limit.on_head);
        }
      }
    }
  }

  Ledger Make() {
    Ledger ledger;
    ledger.runs = 1;
    // Devices by host, and the processes on each; of a run without devices each process by itself.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<ProcessId>> lanes;
    const Plan& plan = *run_.plan;
    const bool has_devices = run_.has_devices();
    for (ProcessId id = 0; id < plan.processes.size(); ++id) {
      const Process& process = plan.processes[id];
      if (!has_devices) lanes[{process.host, id}].push_back(id);
      for (const std::uint32_t device : process.devices) lanes[{process.host, device}].push_back(id);
    }
    std::map<std::uint32_t, std::uint64_t> of_host;
    std::map<std::vector<ProcessId>, std::uint64_t> alike;
    for (const auto& [lane, processes] : lanes) {
      ++of_host[lane.first];
      ++alike[processes];
    }
    for (const auto& [processes, count] : alike) {
      Timeline timeline = Of(processes.front());
      for (std::size_t i = 1; i < processes.size(); ++i) timeline.Join(Of(processes[i]));
      timeline.AddTo(ledger, count);
    }
    std::uint64_t held = lanes.size();
    for (std::uint32_t host = 0; run_.allocated && has_devices && host < plan.hosts.size(); ++host) {
      const std::uint64_t unused =
          plan.hosts[host].devices - std::min<std::uint64_t>(plan.hosts[host].devices, of_host[host]);
      ledger.Of(LedgerRow::kIdle) += DeviceNs{end_ - begin_} * unused;
      held += unused;
    }
    ledger.Of(LedgerRow::kQueued) += DeviceNs{run_.queued_ns} * held;
    AddSpares(of_host, ledger);
    if (history_.is_drill()) {
      ledger.drilled = ledger.rows;
      ledger.drills = 1;
    }
    return ledger;
  }

 private:
  MonotonicNs Within(MonotonicNs at, MonotonicNs from) const { return std::clamp(at, from, std::max(from, end_)); }

  // The steps before the first process; returns where they end.
  MonotonicNs Prepare(Timeline& timeline) const {
    std::optional<MonotonicNs> placed;
    for (const auto& [number, machine] : history_.machines) {
      if (number >= run_.plan->hosts.size() || !machine.agent) continue;
      placed = std::max(placed.value_or(0), machine.agent->on_head);
    }
    MonotonicNs at = begin_;
    const auto step = [&](std::optional<MonotonicNs> until, LedgerRow row) {
      if (!until || *until <= at) return;
      timeline.Paint(at, *until, row);
      at = Within(*until, at);
    };
    const auto when = [](const std::optional<RecordMark>& mark) {
      return mark ? std::optional(mark->on_head) : std::nullopt;
    };
    const bool all = placed && std::all_of(run_.plan->hosts.begin(), run_.plan->hosts.end(), [&](const PlanHost& host) {
                       const auto machine =
                           history_.machines.find(static_cast<std::uint32_t>(&host - run_.plan->hosts.data()));
                       return machine != history_.machines.end() && machine->second.agent;
                     });
    step(all ? placed : end_, LedgerRow::kPlace);
    if (!all) return at;
    step(when(history_.inspected), LedgerRow::kInspect);
    step(when(history_.prepared), LedgerRow::kShip);
    if (const auto& awaited = history_.devices_awaited) {
      step(awaited->on_head, LedgerRow::kStart);
      step(history_.bound ? when(history_.bound) : end_, LedgerRow::kAwaitingDevices);
    }
    return at;
  }

  Timeline Of(ProcessId id) const {
    const std::vector<AttemptHistory>& attempts = history_.attempts[id];
    const Readiness::Kind kind = run_.plan->roles[run_.plan->processes[id].role].ready.kind;
    const bool has_readiness = kind != Readiness::Kind::kStarted && kind != Readiness::Kind::kDone;
    Timeline timeline(begin_, end_);
    MonotonicNs at = Prepare(timeline);
    LedgerRow between = LedgerRow::kStart;
    const std::vector<Cut> cuts = CutsOf(id);
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      const AttemptHistory& attempt = attempts[i];
      if (!attempt.ordered) continue;
      const MonotonicNs ordered = Within(attempt.ordered->on_head, at);
      timeline.Paint(at, ordered, between);
      const MonotonicNs end = Within(EndOf(id, i), ordered);
      const MonotonicNs started =
          attempt.started ? std::min(Within(history_.TimeOf(attempt, *attempt.started), ordered), end) : end;
      MonotonicNs ready = started;
      if (has_readiness)
        ready = attempt.ready ? std::min(Within(history_.TimeOf(attempt, *attempt.ready), started), end) : end;
      timeline.Paint(ordered, started, LedgerRow::kStart);
      timeline.Paint(started, ready, LedgerRow::kReady);
      PaintCut(timeline, ready, end, cuts[i]);
      at = end;
      between = LedgerRow::kStopping;
      if (attempt.exited && !attempt.exited->signalled && attempt.exited->code == 0) between = LedgerRow::kIdle;
    }
    timeline.Paint(at, end_, between);
    PaintFailures(timeline, id);
    for (const CheckpointWrite& write : run_.writes) {
      timeline.PaintWork(write.from, write.to, write.stalled ? LedgerRow::kCheckpoint : LedgerRow::kWriting);
    }
    const bool asks = std::any_of(run_.plan->roles.begin(), run_.plan->roles.end(),
                                  [](const Role& role) { return !role.stop.checkpoint_signal.empty(); });
    if (asks && !history_.stop_requests.empty()) {
      timeline.PaintWork(history_.stop_requests.front().on_head, over_, LedgerRow::kCheckpoint);
    }
    const auto restarts = restarts_.find(id);
    for (std::size_t i = 0; restarts != restarts_.end() && i < restarts->second.size(); ++i) {
      const Recorded<RestartPlanned>& restart = *restarts->second[i];
      const auto next = std::partition_point(attempts.begin(), attempts.end(), [&](const AttemptHistory& attempt) {
        return !attempt.ordered || attempt.ordered->seq <= restart.seq;
      });
      timeline.Paint(restart.on_head, next == attempts.end() ? end_ : next->ordered->on_head, LedgerRow::kStopping);
    }
    timeline.Paint(over_, end_, LedgerRow::kStopping);
    // Records after these are missing.
    if (!history_.damage.empty() && !history_.ended) {
      timeline.Paint(history_.last.on_head, end_, LedgerRow::kUnrecorded);
    }
    return timeline;
  }

  // When the attempt ended, as far as the head knows.
  MonotonicNs EndOf(ProcessId id, std::size_t number) const {
    const AttemptHistory& attempt = history_.attempts[id][number];
    if (attempt.exited) return history_.TimeOf(attempt, *attempt.exited);
    if (attempt.spawn_failed) return attempt.spawn_failed->on_head;
    if (const Recorded<AgentLost>* lost = LossOf(attempt)) return lost->on_head;
    return number + 1 < history_.attempts[id].size() ? history_.attempts[id][number + 1].ordered->on_head : end_;
  }

  // The loss of its host that ended the attempt; null if there was none.
  const Recorded<AgentLost>* LossOf(const AttemptHistory& attempt) const {
    const auto machine = history_.machines.find(attempt.machine);
    if (machine == history_.machines.end() || !machine->second.lost || !attempt.ordered) return nullptr;
    const Recorded<AgentLost>& lost = *machine->second.lost;
    return lost.seq > attempt.ordered->seq && !attempt.Ended() ? &lost : nullptr;
  }

  // Of the work of each attempt.
  std::vector<Cut> CutsOf(ProcessId id) const {
    const std::vector<AttemptHistory>& attempts = history_.attempts[id];
    std::vector<Cut> cuts(attempts.size());
    Cut cut = fate_;
    for (std::size_t i = attempts.size(); i-- > 0;) {
      cuts[i] = cut;
      if (attempts[i].ordered) cut = EarlierOf(cut, InForce(run_, attempts[i].ordered->seq));
    }
    return cuts;
  }

  void PaintCut(Timeline& timeline, MonotonicNs from, MonotonicNs to, const Cut& cut) const {
    const auto on_head = [&](std::uint64_t wall) {
      const std::uint64_t began = run_.WallOf(begin_);
      return wall == kEver ? to : std::clamp(wall > began ? begin_ + (wall - began) : begin_, from, to);
    };
    timeline.Paint(from, on_head(cut.kept), LedgerRow::kKept);
    timeline.Paint(on_head(cut.kept), on_head(cut.maybe), cut.why);
    timeline.Paint(on_head(cut.maybe), to, LedgerRow::kLost);
  }

  // The time in which nobody knew yet that something was wrong.
  void PaintFailures(Timeline& timeline, ProcessId id) const {
    for (std::size_t number = 0; number < history_.attempts[id].size(); ++number) {
      const AttemptHistory& attempt = history_.attempts[id][number];
      const MonotonicNs end = EndOf(id, number);
      for (const Silence& silence : attempt.silences) {
        for (auto found = silences_found_.lower_bound(silence.from);
             found != silences_found_.end() && (silence.to ? *found < *silence.to : *found <= end); ++found) {
          timeline.PaintWork(silence.from, *found, LedgerRow::kSilent);
        }
      }
      if (const Recorded<AgentLost>* lost = LossOf(attempt)) {
        const std::uint64_t unheard = Milliseconds(lost->unheard_ms, lost->on_head);
        timeline.PaintWork(std::max(attempt.ordered->on_head, lost->on_head - unheard), lost->on_head,
                           LedgerRow::kSilent);
      }
    }
  }

  // A spare counts as much as the host of the plan with most, until it replaces a host.
  void AddSpares(const std::map<std::uint32_t, std::uint64_t>& of_host, Ledger& ledger) const {
    std::uint64_t most = 0;
    for (const auto& [host, count] : of_host) most = std::max(most, count);
    for (const auto& [number, machine] : history_.machines) {
      if (number < run_.plan->hosts.size() || !machine.agent) continue;
      const MonotonicNs from = Within(machine.agent->on_head, begin_);
      MonotonicNs to = machine.lost ? Within(machine.lost->on_head, from) : end_;
      for (const ReplacementHistory& replacement : history_.replacements) {
        if (replacement.by == number) to = std::min(to, Within(replacement.on_head, from));
      }
      ledger.Of(LedgerRow::kIdle) += DeviceNs{to - from} * most;
    }
  }

  const LedgerRun& run_;
  const RunHistory& history_;
  const Cut fate_;
  const MonotonicNs begin_;
  const MonotonicNs end_;
  MonotonicNs over_ = kEver;  // the work was done, or given up
  std::map<ProcessId, std::vector<const Recorded<RestartPlanned>*>> restarts_;
  std::set<MonotonicNs> silences_found_;  // when limits of silence were exceeded
};

}  // namespace

std::string_view LedgerRowName(LedgerRow row) { return kRowNames[static_cast<std::size_t>(row)]; }

std::string ExactSeconds(DeviceNs amount) {
  return fmt::format("{}.{:09}", static_cast<std::uint64_t>(amount / kSecond),
                     static_cast<std::uint64_t>(amount % kSecond));
}

double SecondsOf(DeviceNs amount) { return static_cast<double>(amount) / 1e9; }

namespace {

DeviceNs SumFrom(std::size_t first, const std::array<DeviceNs, kLedgerRows>& rows) {
  DeviceNs sum = 0;
  for (std::size_t i = first; i < kLedgerRows; ++i) sum += rows[i];
  return sum;
}

}  // namespace

DeviceNs Ledger::Unknown() const { return SumFrom(kFirstUnknownRow, rows); }

DeviceNs Ledger::Total() const { return SumFrom(0, rows); }

Ledger& Ledger::operator+=(const Ledger& other) {
  for (std::size_t i = 0; i < kLedgerRows; ++i) {
    rows[i] += other.rows[i];
    drilled[i] += other.drilled[i];
  }
  runs += other.runs;
  drills += other.drills;
  return *this;
}

bool LedgerRun::has_devices() const {
  return std::any_of(plan->processes.begin(), plan->processes.end(),
                     [](const Process& process) { return !process.devices.empty(); });
}

std::uint64_t LedgerRun::WallOf(MonotonicNs on_head) const {
  const std::uint64_t first = ParseUtc(history.first.wall).value_or(0);
  const MonotonicNs began = history.first.on_head;
  return on_head >= began ? first + (on_head - began) : first - std::min(first, began - on_head);
}

std::vector<Ledger> LedgersOf(std::span<const LedgerRun> runs) {
  const Fates fates(runs);
  std::vector<Ledger> ledgers;
  for (std::size_t i = 0; i < runs.size(); ++i) ledgers.push_back(RunLedger(runs[i], fates.Of(i)).Make());
  return ledgers;
}

Ledgers LedgerOf(std::span<const LedgerRun> runs) {
  Ledgers sums;
  const std::vector<Ledger> ledgers = LedgersOf(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    (runs[i].has_devices() ? sums.devices : sums.process_slots) += ledgers[i];
  }
  return sums;
}

std::string ContinuedRun(const RunHistory& history) {
  for (const CheckpointSeen& seen : history.checkpoints) {
    if (!seen.run.empty()) return seen.run;
  }
  return {};
}

// --- as text -----------------------------------------------------------------------------------------------

namespace {

// In which all rows of a ledger are printed: the largest of which it has at least one.
struct LedgerUnit {
  std::string_view name;
  double ns;
  int decimals;
};

LedgerUnit UnitOf(DeviceNs total) {
  constexpr std::uint64_t kHour = 3'600 * kSecond;
  if (total >= kHour) return {"hours", kHour, 4};
  if (total >= kSecond) return {"seconds", kSecond, 3};
  return {"milliseconds", kMillisecond, 3};
}

// "4 runs", "4 runs, 1 of them a drill", "4 drills".
std::string RunsText(const Ledger& ledger) {
  if (ledger.drills == ledger.runs && ledger.runs > 0) return Counted(ledger.runs, "drill");
  std::string text = Counted(ledger.runs, "run");
  if (ledger.drills > 0) {
    text += ledger.drills == 1 ? ", 1 of them a drill" : fmt::format(", {} of them drills", ledger.drills);
  }
  return text;
}

}  // namespace

std::string LedgerText(const Ledger& ledger, std::string_view counts) {
  const DeviceNs total = ledger.Total();
  const bool has_both = ledger.drills > 0 && ledger.drills < ledger.runs;
  const LedgerUnit unit = UnitOf(total);
  const auto number = [&unit](DeviceNs amount) {
    return fmt::format("{:.{}f}", static_cast<double>(amount) / unit.ns, unit.decimals);
  };
  std::string text = fmt::format("ledger of {}, in {} {}\n", RunsText(ledger), counts, unit.name);
  const auto line = [&](std::string_view name, DeviceNs amount, DeviceNs drilled, std::size_t indent) {
    if (amount == 0) return;
    std::string label(name);
    std::replace(label.begin(), label.end(), '_', ' ');
    const double share = total == 0 ? 0 : 100 * static_cast<double>(amount) / static_cast<double>(total);
    text += fmt::format("  {:<24}{:>14}  {:>5.1f} %", std::string(indent, ' ') + label, number(amount), share);
    if (has_both && drilled > 0) text += fmt::format("   {} in drills", number(drilled));
    text += '\n';
  };
  constexpr std::string_view kStarting = "starting_";
  DeviceNs starting = 0;
  DeviceNs starting_drilled = 0;
  for (std::size_t i = 0; i < kFirstUnknownRow; ++i) {
    if (!kRowNames[i].starts_with(kStarting)) continue;
    starting += ledger.rows[i];
    starting_drilled += ledger.drilled[i];
  }
  bool began = false;
  for (std::size_t i = 0; i < kFirstUnknownRow; ++i) {
    const bool of_start = kRowNames[i].starts_with(kStarting);
    if (of_start && !std::exchange(began, true)) line("starting", starting, starting_drilled, 0);
    line(of_start ? kRowNames[i].substr(kStarting.size()) : kRowNames[i], ledger.rows[i], ledger.drilled[i],
         of_start ? 2 : 0);
  }
  line(kUnknownRowName, ledger.Unknown(), SumFrom(kFirstUnknownRow, ledger.drilled), 0);
  for (std::size_t i = kFirstUnknownRow; i < kLedgerRows; ++i) line(kRowNames[i], ledger.rows[i], ledger.drilled[i], 2);
  text += fmt::format("  {:<24}{:>14}", "total", number(total));
  if (has_both) text += fmt::format("           {} in drills", number(SumFrom(0, ledger.drilled)));
  return text + '\n';
}

PrintedLedger PrintedOf(const Ledger& ledger, std::string_view counts) {
  const auto known = [](const std::array<DeviceNs, kLedgerRows>& rows) {
    InOrder<LedgerSeconds> printed;
    for (std::size_t i = 0; i < kFirstUnknownRow; ++i)
      printed.members.emplace_back(kRowNames[i], LedgerSeconds{rows[i]});
    printed.members.emplace_back(kUnknownRowName, LedgerSeconds{SumFrom(kFirstUnknownRow, rows)});
    return printed;
  };
  PrintedLedger printed{
      std::string(counts), ledger.runs, {ledger.drills, known(ledger.drilled), {SumFrom(0, ledger.drilled)}},
      known(ledger.rows),  {},          {ledger.Total()}};
  for (std::size_t i = kFirstUnknownRow; i < kLedgerRows; ++i)
    printed.unknown.members.emplace_back(kRowNames[i], LedgerSeconds{ledger.rows[i]});
  return printed;
}

}  // namespace muster
