// Restarts that are under way: which processes end together and are started again together, and what each role's budget
// still grants. Says when the processes of a restart may be started again; starts nothing.
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

  // One restart of the role's budget. Nothing if it is used up; adds that to `why`.
  std::optional<RestartBudget::Grant> Take(std::uint32_t role, MonotonicNs now, std::string& why);

  // Begins a restart of these processes: they are stopped, and leave narrower restarts that they were part of. Returns
  // its number, for which the caller arms kRenewalTimers or calls DelayOver().
  std::uint64_t Begin(const std::vector<ProcessId>& members, ProcessStates& states, Orders& orders);
  void DelayOver(std::uint64_t number);
  // The process ended, asked to. Returns the restart that it is part of, if any.
  std::optional<std::uint64_t> Ended(ProcessId process, ProcessStates& states);
  // Whether the delay is over and all processes have ended. If so, the restart is over: its processes wait for their
  // next attempt. Returns their roles, ascending; nothing if it is not due.
  std::vector<std::uint32_t> TakeDue(std::uint64_t number, ProcessStates& states);
  // Of all that are under way, ascending.
  std::vector<std::uint64_t> Numbers() const;
  // No process is started again any more.
  void Cancel(Orders& orders);

 private:
  struct Restart {
    std::vector<ProcessId> processes;
    std::uint32_t members = 0;   // of them, not taken over by a wider restart
    std::uint32_t stopping = 0;  // of these, not ended yet
    bool delay_over = false;
  };

  void Leave(ProcessId process, const ProcessStates& states, Orders& orders);

  const Plan& plan_;
  std::vector<RestartBudget> budgets_;  // of each role
  std::map<std::uint64_t, Restart> under_way_;
  std::vector<std::optional<std::uint64_t>> number_of_;  // of each process
  std::uint64_t next_ = 0;
};

}  // namespace muster
