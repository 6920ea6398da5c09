#include "run/supervise/process_states.h"

#include <algorithm>
#include <utility>

namespace muster {

StartOrder::StartOrder(const Plan& plan)
    : first_(plan.roles.size() + 1, 0),
      dependents_(plan.roles.size()),
      waits_(plan.roles.size(), 0),
      ready_(plan.processes.size(), false) {
  role_of_.reserve(plan.processes.size());
  for (const Process& process : plan.processes) {
    role_of_.push_back(process.role);
    ++first_[process.role + 1];
  }
  for (std::size_t role = 0; role < plan.roles.size(); ++role) first_[role + 1] += first_[role];
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) {
    for (const std::uint32_t other : plan.roles[role].after) {
      dependents_[other].push_back(role);
      waits_[role] += Last(other) - First(other);
    }
  }
}

std::vector<std::uint32_t> StartOrder::SetReady(ProcessId process) {
  std::vector<std::uint32_t> freed;
  if (ready_[process]) return freed;
  ready_[process] = true;
  for (const std::uint32_t role : dependents_[role_of_[process]]) {
    if (--waits_[role] == 0) freed.push_back(role);
  }
  return freed;
}

void StartOrder::SetUnready(ProcessId process) {
  if (!ready_[process]) return;
  ready_[process] = false;
  for (const std::uint32_t role : dependents_[role_of_[process]]) ++waits_[role];
}

std::optional<std::uint32_t> StartOrder::AwaitedBy(ProcessId process) const {
  if (ready_[process] || dependents_[role_of_[process]].empty()) return std::nullopt;
  return dependents_[role_of_[process]].front();
}

ProcessStates::ProcessStates(const Plan& plan)
    : plan_(plan),
      processes_(plan.processes.size()),
      first_on_(plan.hosts.size() + 1, 0),
      by_host_(plan.processes.size()),
      order_(plan),
      done_(plan.roles.size(), 0) {
  for (const Process& process : plan.processes) ++first_on_[process.host + 1];
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) first_on_[host + 1] += first_on_[host];
  std::vector<std::size_t> next = first_on_;
  for (ProcessId process = 0; process < count(); ++process) by_host_[next[plan.processes[process].host]++] = process;
  left_ = unready_ = count();
  for (std::uint32_t role = 0; role < plan.roles.size(); ++role) {
    const std::uint32_t processes = order_.Last(role) - order_.First(role);
    if (plan.roles[role].ending == Ending::kAll) undone_ += processes;
    if (plan.roles[role].ending == Ending::kAny) undone_ += std::min(processes, 1U);
  }
  has_work_ = undone_ > 0;
}

ProcessEffect ProcessStates::Apply(ProcessId process, ProcessInput input) {
  Progress& progress = processes_[process];
  const ProcessState before = progress.state;
  const ProcessCell& cell = Decide(before, input);
  const auto count = [&](ProcessState state, std::uint32_t& counter, bool counts) {
    if (before != state && cell.next == state) counter = counts ? counter + 1 : counter - 1;
    if (before == state && cell.next != state) counter = counts ? counter - 1 : counter + 1;
  };
  progress.state = cell.next;
  count(ProcessState::kStopping, stopping_, true);
  count(ProcessState::kEnded, left_, false);
  if (!order_.IsReady(process)) count(ProcessState::kEnded, unready_, false);
  return cell.effect;
}

ProcessEffect ProcessStates::Renew(ProcessId process) {
  if (order_.IsReady(process)) {
    order_.SetUnready(process);
    if (state(process) != ProcessState::kEnded) ++unready_;
  }
  SetDone(process, false);
  return Apply(process, ProcessInput::kRenew);
}

void ProcessStates::BeginNextAttempt(ProcessId process) {
  Apply(process, ProcessInput::kRested);
  const std::uint32_t attempt = processes_[process].attempt + 1;
  processes_[process] = Progress{};
  processes_[process].attempt = attempt;
}

bool ProcessStates::IsLatest(const ProcessAttempt& who) const {
  return who.process < processes_.size() && processes_[who.process].attempt == who.attempt;
}

bool ProcessStates::IsAtWork(ProcessId process) const {
  return state(process) == ProcessState::kStarting || state(process) == ProcessState::kRunning;
}

std::optional<ProcessId> ProcessStates::FirstStopping() const {
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [](const Progress& each) { return each.state == ProcessState::kStopping; });
  if (found == processes_.end()) return std::nullopt;
  return static_cast<ProcessId>(found - processes_.begin());
}

std::vector<ProcessId> ProcessStates::Members(ProcessId process, RestartPolicy::Scope scope) const {
  ProcessId first = process;
  ProcessId last = process + 1;
  switch (scope) {
    case RestartPolicy::Scope::kProcess:
      break;
    case RestartPolicy::Scope::kRole:
      first = order_.First(plan_.processes[process].role);
      last = order_.Last(plan_.processes[process].role);
      break;
    case RestartPolicy::Scope::kJob:
      first = 0;
      last = count();
      break;
  }
  std::vector<ProcessId> members;
  for (ProcessId each = first; each < last; ++each) {
    if (state(each) != ProcessState::kWaiting) members.push_back(each);
  }
  return members;
}

std::span<const ProcessId> ProcessStates::OnHost(std::uint32_t host) const {
  return std::span(by_host_).subspan(first_on_[host], first_on_[host + 1] - first_on_[host]);
}

void ProcessStates::Signalled(ProcessId process, bool killed) {
  processes_[process].signalled = true;
  processes_[process].killed = processes_[process].killed || killed;
}

std::vector<std::uint32_t> ProcessStates::SetReady(ProcessId process) {
  if (!order_.IsReady(process) && state(process) != ProcessState::kEnded) --unready_;
  return order_.SetReady(process);
}

void ProcessStates::SetDone(ProcessId process, bool done) {
  if (std::exchange(processes_[process].done, done) == done) return;
  const std::uint32_t role = plan_.processes[process].role;
  const std::uint32_t before = done_[role];
  done_[role] = done ? before + 1 : before - 1;
  const Ending ending = plan_.roles[role].ending;
  // For a kAny role only the first exit with code 0 counts.
  if (ending == Ending::kAll || (ending == Ending::kAny && (before == 0 || done_[role] == 0))) {
    undone_ = done ? undone_ - 1 : undone_ + 1;
  }
}

}  // namespace muster
