#include "run/journal/run_history.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/abnormal_exit.h"
#include "base/values/overloaded.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_files.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::uint64_t kMaxJournalBytes = 1U << 30;

// Whether the order asks processes of a role with this policy for a checkpoint: it has the grace of the wait for one.
bool AsksForCheckpoint(const StopOrdered& stop, const StopPolicy& policy) {
  return !policy.checkpoint_signal.empty() && stop.grace_ms > policy.grace_ms &&
         stop.signal == SignalNumber(policy.checkpoint_signal).value_or(0);
}

}  // namespace

std::string RunHistory::MachineName(std::uint32_t machine) const {
  const auto found = machines.find(machine);
  return found == machines.end() ? fmt::format("host{}", machine) : found->second.name;
}

HistoryFold::HistoryFold(const Plan& plan) : plan_(plan), fit_(plan) {
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    machine_of_.push_back(host);
    history_.machines[host].name = plan.hosts[host].label;
  }
  history_.clocks.resize(plan.hosts.size());
  if (plan.hosts.size() == 1) history_.clocks[0] = HostClock{};
  history_.attempts.assign(plan.processes.size(), std::vector<AttemptHistory>(1));
}

void HistoryFold::Take(JournalRecord record) {
  if (!fit_.Take(record)) {
    if (left_out_++ == 0) first_problem_ = fit_.problem();
    return;
  }
  history_.last = {record.seq, record.at, std::move(record.wall)};
  if (history_.first.seq == 0) history_.first = history_.last;
  Fold(record.entry, history_.last);
}

RunHistory HistoryFold::End(std::string stopped) && {
  for (ProcessId process = 0; process < history_.attempts.size(); ++process) {
    AttemptHistory& first = history_.attempts[process].front();
    if (!first.ordered) first.machine = machine_of_[plan_.processes[process].host];
    EndSilence(process, static_cast<std::uint32_t>(history_.attempts[process].size() - 1), {});
  }
  history_.damage = std::move(stopped);
  if (left_out_ == 0) return std::move(history_);
  if (!history_.damage.empty()) history_.damage += "; ";
  history_.damage += left_out_ == 1
                         ? first_problem_
                         : fmt::format("{} records do not match the plan, the first: {}", left_out_, first_problem_);
  return std::move(history_);
}

void HistoryFold::Fold(JournalEntry& entry, const RecordMark& mark) {
  const auto recorded = [&]<class E>(E& e) { return Recorded<E>{std::move(e), mark}; };
  RunHistory& history = history_;
  std::visit(
      Overloaded{
          [&](RunBegan& e) { history.began = recorded(e); },
          [&](RunEnded& e) { history.ended = recorded(e); },
          [&](PhaseChanged& e) { history.phases.push_back(recorded(e)); },
          [&](StopRequested& e) { history.stop_requests.push_back(recorded(e)); },
          // Hosts and their agents.
          [&](HostReached& e) {
            MachineOf(e.host).name = e.name.substr(e.name.find('@') + 1);
            if (e.host >= history.clocks.size()) history.clocks.resize(std::size_t{e.host} + 1);
            history.clocks[e.host].reset();
          },
          [&](AgentConnected& e) { MachineOf(e.host).agent = recorded(e); },
          [&](AgentLost& e) { MachineOf(e.host).lost = recorded(e); },
          [&](AgentEmpty& e) { MachineOf(e.host).empty = std::move(e); },
          // The latest comparison is the best one, or the clocks have drifted.
          [&](ClockCompared& e) {
            if (e.host < history.clocks.size()) history.clocks[e.host] = HostClock{e.offset_ns, e.error_ns};
          },
          [&](HostActivated& e) {
            history.activations.push_back(recorded(e));
            history.prepared = mark;
          },
          [&](HostReplaced& e) {
            if (e.error.empty()) Replace(e, mark);
          },
          // Preparation.
          [&](HostsCompared& e) {
            history.hosts_compared = std::move(e);
            history.inspected = mark;
          },
          [&](PathsCompared&) { history.inspected = mark; },
          [&](CodeSeen& e) { history.code.seen = std::move(e); },
          [&](CodeShipped& e) {
            history.code.shipped.push_back(std::move(e));
            history.prepared = mark;
          },
          [&](DevicesAwaited&) {
            if (!history.devices_awaited) history.devices_awaited = mark;
          },
          [&](PlanBound& e) {
            for (std::uint32_t host = 0; host < e.hosts.size(); ++host) {
              MachineOf(host).name = std::move(e.hosts[host].name);
              MachineOf(host).devices = std::move(e.hosts[host].devices);
            }
            history.cores = std::move(e.cores);
            history.bound = mark;
          },
          [&](PreparationFailed& e) { history.unready = std::move(e.why); },
          // Attempts of processes.
          [&](StartOrdered& e) { Order(e, mark); },
          [&](StopOrdered& e) { Stop(e); },
          [&](ProcessStarted& e) { AttemptOf(e.process, e.attempt).started = recorded(e); },
          [&](ProcessReady& e) { AttemptOf(e.process, e.attempt).ready = recorded(e); },
          [&](FirstOutput& e) { AttemptOf(e.process, e.attempt).first_output = e.at; },
          [&](OutputSeen& e) { See(e, mark.on_head); },
          [&](SpawnFailed& e) { AttemptOf(e.process, e.attempt).spawn_failed = recorded(e); },
          [&](ProcessExited& e) {
            EndSilence(e.process, e.attempt, {});
            AttemptHistory& attempt = AttemptOf(e.process, e.attempt);
            if (!attempt.exited) attempt.exited = recorded(e);  // an attempt ends once
          },
          [&](SignalSent& e) { AttemptOf(e.process, e.attempt).signals.push_back(recorded(e)); },
          [&](LimitPassed& e) { AttemptOf(e.process, e.attempt).limits.push_back(recorded(e)); },
          [&](EndEvidence& e) { AttemptOf(e.process, e.attempt).evidence.push_back(std::move(e)); },
          [&](PortTaken& e) {
            AttemptOf(e.process, e.attempt).evidence.push_back({e.process, e.attempt, "port", TakenText(e), e.at});
          },
          // Failures, restarts, checkpoints and dumps.
          [&](FirstFailure& e) {
            history.origin = e;
            history.first_failure = recorded(e);
          },
          [&](FailureTraced& e) {
            history.origin = FirstFailure{e.process, e.attempt};
          },
          [&](RestartPlanned& e) { history.restarts.push_back(recorded(e)); },
          [&](FailureJudged& e) { history.judged.push_back(recorded(e)); },
          [&](FaultInjected& e) { history.faults.push_back(recorded(e)); },
          [&](CheckpointSeen& e) {
            if (e.run.empty()) history.checkpoint_asked.reset();
            history.checkpoints.push_back(recorded(e));
          },
          [&](DumpOrdered& e) { Dump(e, mark); },
          [&](ProcessDumped& e) {
            if (DumpHistory* dump = DumpOf(e.dump)) dump->reported.push_back(std::move(e));
          },
          [&](HostDumped& e) {
            if (DumpHistory* dump = DumpOf(e.dump)) {
              for (DumpNote& note : e.notes) dump->notes.emplace_back(e.host, std::move(note));
            }
          },
          [&](DumpEnded& e) {
            if (DumpHistory* dump = DumpOf(e.dump)) dump->ended = e;
          },
          // Steps whose results are entries of their own, and what only people read in the journal.
          Ignoring<EndedEarly, StrayEvent, FinishOrdered, DeadlinePassed, RebindOrdered, PlanRebound, DumpRequested,
                   PtyOpened, PtyClosed, ReplaceOrdered, HostStray, EngineAnswered>(),
      },
      entry);
}

MachineHistory& HistoryFold::MachineOf(std::uint32_t machine) {
  const auto [found, is_new] = history_.machines.try_emplace(machine);
  if (is_new) found->second.name = fmt::format("host{}", machine);
  return found->second;
}

void HistoryFold::Order(const StartOrdered& order, const RecordMark& mark) {
  std::vector<AttemptHistory>& attempts = history_.attempts[order.process];
  if (order.attempt > 0) {
    EndSilence(order.process, order.attempt - 1, mark.on_head);
    attempts.emplace_back();
  }
  attempts.back().ordered = mark;
  attempts.back().machine = machine_of_[plan_.processes[order.process].host];
}

void HistoryFold::Stop(const StopOrdered& order) {
  for (const ProcessId process : order.processes) {
    AttemptHistory& attempt = history_.attempts[process].back();
    attempt.stop_ordered = attempt.stop_ordered || !attempt.Ended();
  }
  if (order.processes.empty()) return;
  const std::uint32_t role = plan_.processes[order.processes.front()].role;
  if (AsksForCheckpoint(order, plan_.roles[role].stop)) history_.checkpoint_asked = role;
}

void HistoryFold::Replace(HostReplaced& replaced, const RecordMark& mark) {
  if (replaced.host >= machine_of_.size()) return;
  history_.replacements.push_back({machine_of_[replaced.host], replaced.by, mark.wall, mark.on_head});
  machine_of_[replaced.host] = replaced.by;
  MachineHistory& machine = MachineOf(replaced.by);
  machine.name = std::move(replaced.name);
  machine.devices = std::move(replaced.devices);
  history_.cores = std::move(replaced.cores);
}

DumpHistory* HistoryFold::DumpOf(std::uint32_t number) {
  // Dumps are numbered from 1 in the order in which they were ordered.
  return number >= 1 && number <= history_.dumps.size() ? &history_.dumps[number - 1] : nullptr;
}

void HistoryFold::Dump(const DumpOrdered& order, const RecordMark& mark) {
  if (order.dump != history_.dumps.size() + 1) return;
  DumpHistory& dump = history_.dumps.emplace_back();
  dump.order = {order, mark};
  for (ProcessId process = 0; process < history_.attempts.size(); ++process) {
    const AttemptHistory& attempt = history_.Last(process);
    if (!attempt.started || attempt.exited) continue;
    const auto machine = history_.machines.find(attempt.machine);
    const bool lost =
        machine != history_.machines.end() && machine->second.lost && machine->second.lost->seq > attempt.started->seq;
    if (!lost) dump.running.push_back(process);
  }
}

void HistoryFold::See(const OutputSeen& seen, MonotonicNs on_head) {
  looks_.resize(history_.attempts.size());
  for (std::size_t i = 0; i < std::min(seen.processes.size(), seen.bytes.size()); ++i) {
    const ProcessId process = seen.processes[i];
    std::optional<Look>& look = looks_[process];
    if (look && look->bytes == seen.bytes[i]) continue;
    EndSilence(process, static_cast<std::uint32_t>(history_.attempts[process].size() - 1), on_head);
    look = Look{seen.bytes[i], on_head};
  }
}

void HistoryFold::EndSilence(ProcessId process, std::uint32_t attempt, std::optional<MonotonicNs> to) {
  if (looks_.empty() || !looks_[process]) return;
  AttemptOf(process, attempt).silences.push_back({looks_[process]->since, to});
  looks_[process].reset();
}

RunHistory ReadHistory(const Plan& plan, const std::string& run_dir) {
  HistoryFold fold(plan);
  std::string stopped = ReadJournal(
      run_dir + "/" + kJournalEntry.name,
      [&fold](JournalRecord record) {
        fold.Take(std::move(record));
        return true;
      },
      kMaxJournalBytes);
  return std::move(fold).End(std::move(stopped));
}

Result<RecordedRun> ReadRun(const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  // First of all: if the run is over before the journal is read, the journal has its last record.
  const bool held = IsRunLive(run_dir);
  UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!plan) {
    const Result<std::string> json = ReadPlanJson(folder.get(), run_dir);
    if (!json) return Fail(json.error());
    Result<Plan> read = PlanFromJson(*json);
    if (!read) return Fail(std::move(read.error()));
    plan = std::make_shared<const Plan>(*std::move(read));
  }
  HideSecretsOf(*plan);  // what the reader quotes of the run's output
  RunHistory history = ReadHistory(*plan, run_dir);
  const bool live = held && !history.ended;
  return RecordedRun{std::move(folder), std::move(plan), std::move(history), live};
}

}  // namespace muster
