#include "run/supervise/run_status.h"

namespace muster {

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
