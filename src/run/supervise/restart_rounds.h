// The restarts in progress: which processes are stopped and started again together, and the budget of each role.
// Determines when the processes of a restart may be started; starts nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/supervise/restart_budget.h"

namespace muster {

class Orders;
class ProcessStates;

class RestartRounds {
 public:
  // The plan must outlive this.
  explicit RestartRounds(const Plan& plan);

  // One restart of the role's budget. Empty if it is used up, which is added to `why`.
  std::optional<RestartBudget::Grant> Take(std::uint32_t role, MonotonicNs now, std::string& why);

  // Begins a restart of these processes: they are stopped, and leave narrower restarts that they were part of. Returns
  // its number, for which the caller arms kRenewalTimers or calls DelayOver().
  std::uint64_t Begin(const std::vector<ProcessId>& members, ProcessStates& states, Orders& orders);
  void DelayOver(std::uint64_t number);
  // Handles the ordered end of a process. Returns the restart that it is part of, if any.
  std::optional<std::uint64_t> Ended(ProcessId process, ProcessStates& states);
  // Completes the restart if its delay is over and all processes have ended: they then wait for their next attempt.
  // Returns their roles, ascending; empty if the restart is not due.
  std::vector<std::uint32_t> TakeDue(std::uint64_t number, ProcessStates& states);
  // The numbers of all restarts in progress, ascending.
  std::vector<std::uint64_t> Numbers() const;
  // Cancels all restarts.
  void Cancel(Orders& orders);

 private:
  struct Restart {
    std::vector<ProcessId> processes;
    std::uint32_t members = 0;   // processes of it that have not joined a wider restart
    std::uint32_t stopping = 0;  // of these, processes that have not ended yet
    bool delay_over = false;
  };

  void Leave(ProcessId process, const ProcessStates& states, Orders& orders);

  const Plan& plan_;
  std::vector<RestartBudget> budgets_;  // by role
  std::map<std::uint64_t, Restart> under_way_;
  std::vector<std::optional<std::uint64_t>> number_of_;  // by process
  std::uint64_t next_ = 0;
};

}  // namespace muster
