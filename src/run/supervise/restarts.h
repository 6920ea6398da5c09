// Restarts: how many a role may have, with what delay, which processes are stopped and started together, and when the
// whole job gets other ports.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Limits how often processes may be restarted, and computes the delay before each restart: the restart intensity of
// Erlang's supervisors (OTP design principles, "Maximum Restart Intensity"), counted per role.
//
// Depends on policies and times, not on processes.

// How a process ended, or why it must be ended.
struct HowEnded {
  enum class Kind : std::uint8_t { kExited, kSignalled, kNotStarted, kLimit, kLost };  // kLost: its host was lost
  Kind kind = Kind::kExited;
  std::int32_t code = 0;   // exit code or signal
  std::string limit = {};  // LimitPassed::limit
  // Others may be the cause as well: they fell silent at the same time, on other hosts perhaps.
  bool of_several = false;

  bool Well() const { return kind == Kind::kExited && code == 0; }
};

// Whether the policy calls for a restart after this end.
bool Restarts(const RestartPolicy& policy, const HowEnded& end);

class RestartBudget {
 public:
  struct Grant {
    std::uint32_t count = 0;     // restarts of the role within the policy's time, this one included
    std::uint32_t delay_ms = 0;  // delay before it
  };
  // Returns nothing if the maximum number of restarts was granted within the last `within_ms` (end of the interval
  // excluded). A grant counts immediately.
  std::optional<Grant> Take(const RestartPolicy& policy, MonotonicNs now);

 private:
  std::deque<MonotonicNs> granted_;
};

// The restarts in progress: which processes are stopped and started again together, and the budget of each role.
// Determines when the processes of a restart may be started; starts nothing.

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

// Decides whether the job gets other ports after a foreign process was seen to hold one that muster had chosen: whether
// that helps and has not been tried too often. Pure.
class PortRebinding {
 public:
  // Only the latest is kept.
  void Saw(const PortTaken& taken) { taken_ = taken; }
  // Whether a port of the attempt was seen to be taken.
  bool Concerns(const ProcessAttempt& who) const;
  // Whether the job may get another port instead of the one that was seen to be taken; extends `why` if that has been
  // tried too often.
  bool Allowed(const Plan& plan, std::string& why) const;
  const std::optional<PortTaken>& taken() const { return taken_; }

  // Returns how many times the job got other ports, this time included.
  std::uint32_t Begin();
  bool under_way() const { return under_way_; }
  // Returns whether a change was in progress.
  bool End();

 private:
  std::optional<PortTaken> taken_;
  std::uint32_t times_ = 0;
  bool under_way_ = false;
};

}  // namespace muster
