#include "run/supervise/start_order.h"

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

}  // namespace muster
