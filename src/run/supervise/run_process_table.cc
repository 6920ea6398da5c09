#include "run/supervise/run_process_table.h"

#include <array>
#include <string_view>
#include <variant>

#include "base/values/abnormal_exit.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

// In the order of ProcessState; docs/control.md.
constexpr std::array<std::string_view, kProcessStates> kStateNames = {"waiting",  "starting", "running",
                                                                      "stopping", "resting",  "ended"};

bool Runs(ProcessState state) {
  return state == ProcessState::kStarting || state == ProcessState::kRunning || state == ProcessState::kStopping;
}

}  // namespace

RunProcessTable::RunProcessTable(const Plan& plan) : entries_(plan.processes.size()) {
  for (std::size_t id = 0; id < entries_.size(); ++id) entries_[id].machine = plan.processes[id].host;
}

RunProcessTable::Entry* RunProcessTable::Ending(ProcessId process, std::uint32_t attempt) {
  if (process >= entries_.size() || attempt < entries_[process].attempt) return nullptr;
  return &entries_[process];
}

void RunProcessTable::Saw(const Event& event, MonotonicNs now) {
  std::visit(
      Overloaded{[&](const ProcessStarted& e) {
                   if (Entry* entry = Ending(e.process, e.attempt)) {
                     *entry = {e.attempt, e.pid, e.start_ticks, now, 0, false, 0, {}, entry->machine};
                   }
                 },
                 [&](const SpawnFailed& e) {
                   if (Entry* entry = Ending(e.process, e.attempt)) {
                     *entry = {e.attempt, 0, 0, 0, now, false, 0, e.stage, entry->machine};
                   }
                 },
                 [&](const ProcessExited& e) {
                   if (Entry* entry = Ending(e.process, e.attempt)) {
                     entry->attempt = e.attempt;
                     entry->ended = now;
                     entry->signalled = e.signalled;
                     entry->code = e.code;
                   }
                 },
                 // Neither begins nor ends an attempt.
                 Ignoring<SignalSent, AgentEmpty, AgentLost, StopRequested, DeadlinePassed, ProcessReady, OutputSeen,
                          FirstOutput, EndEvidence, PortTaken, PlanRebound, ProcessDumped, HostDumped, DumpRequested,
                          PtyOpened, PtyClosed, ClockCompared, HostReplaced, CheckpointSeen>()},
      event);
}

MonotonicNs RunProcessTable::BeganAt(ProcessId process, std::uint32_t attempt) const {
  return process < entries_.size() && entries_[process].attempt == attempt ? entries_[process].began : 0;
}

int RunProcessTable::SignalOf(ProcessId process, std::uint32_t attempt) const {
  if (process >= entries_.size()) return 0;
  const Entry& entry = entries_[process];
  return entry.attempt == attempt && entry.ended != 0 && entry.signalled ? entry.code : 0;
}

std::vector<ProcessStatus> RunProcessTable::Statuses(const Plan& plan, const Supervisor& supervisor,
                                                     const std::vector<std::string>& hosts, MonotonicNs now) const {
  std::vector<ProcessStatus> statuses;
  statuses.reserve(entries_.size());
  for (ProcessId id = 0; id < entries_.size(); ++id) {
    const Process& process = plan.processes[id];
    const Entry& entry = entries_[id];
    ProcessStatus& status = statuses.emplace_back();
    status.role = plan.roles[process.role].name;
    status.index = process.index;
    if (process.rank) status.rank = *process.rank;
    if (entry.machine < hosts.size()) status.host = hosts[entry.machine];
    status.state = kStateNames[static_cast<std::size_t>(supervisor.state(id))];
    status.attempt = supervisor.attempt(id);
    if (Runs(supervisor.state(id)) && entry.ended == 0) {
      status.pid = entry.pid;
      status.start_ticks = entry.start_ticks;
    }
    if (entry.began != 0) status.ran_ms = ((entry.ended != 0 ? entry.ended : now) - entry.began) / 1'000'000;
    if (entry.ended == 0) continue;
    status.spawn_stage = entry.spawn_stage;
    if (entry.signalled) {
      status.signal = SignalName(entry.code);
    } else if (entry.spawn_stage.empty()) {
      status.exit_code = entry.code;
    }
  }
  return statuses;
}

std::optional<ProcessId> RunProcessTable::StrongestOutlier(const Plan& plan, const Supervisor& supervisor,
                                                           std::uint32_t role) const {
  std::optional<ProcessId> strongest;
  std::uint64_t most = 0;
  for (ProcessId id = 0; id < entries_.size(); ++id) {
    if (plan.processes[id].role != role) continue;
    const Entry& entry = entries_[id];
    const bool badly = entry.ended != 0 && (entry.signalled || entry.code != 0);
    // One number orders all four reasons; of equal ones the first process wins.
    constexpr std::uint64_t kBadly = std::uint64_t{3} << 62U;
    constexpr std::uint64_t kAgain = std::uint64_t{2} << 62U;
    const std::uint64_t oddity = badly                        ? kBadly | (entry.ended >> 2U)
                                 : entry.attempt > 0          ? kAgain | (entry.began >> 2U)
                                 : Runs(supervisor.state(id)) ? 2
                                                              : 1;
    if (oddity <= most) continue;
    most = oddity;
    strongest = id;
  }
  return strongest;
}

std::vector<RoleStatus> RoleStatuses(const Plan& plan, const Supervisor& supervisor) {
  std::vector<RoleStatus> roles(plan.roles.size());
  for (std::size_t role = 0; role < plan.roles.size(); ++role) roles[role].name = plan.roles[role].name;
  for (ProcessId process = 0; process < plan.processes.size(); ++process) {
    RoleStatus& role = roles[plan.processes[process].role];
    const ProcessState state = supervisor.state(process);
    const bool waits = state == ProcessState::kWaiting || state == ProcessState::kResting;
    ++(waits ? role.waiting : state == ProcessState::kEnded ? role.ended : role.running);
    role.restarts += supervisor.attempt(process);
  }
  return roles;
}

}  // namespace muster
