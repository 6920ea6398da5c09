// The state of every process by the process table, counts of states, and which roles may start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/supervise/policy_table.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Determines which roles may start, and which processes are ready, from the `after` of the plan's roles. Starts
// nothing; independent of time.
class StartOrder {
 public:
  // The plan must be one that ValidatePlan accepts; it is only read by the constructor.
  explicit StartOrder(const Plan& plan);

  // Whether all processes of all roles that this one comes after are ready.
  bool MayStart(std::uint32_t role) const { return waits_[role] == 0; }
  bool IsReady(ProcessId process) const { return ready_[process]; }

  // Returns the roles that may start because of it.
  std::vector<std::uint32_t> SetReady(ProcessId process);
  void SetUnready(ProcessId process);

  // A role that cannot start before this process is ready.
  std::optional<std::uint32_t> AwaitedBy(ProcessId process) const;

  // The processes of a role, [first, last).
  ProcessId First(std::uint32_t role) const { return first_[role]; }
  ProcessId Last(std::uint32_t role) const { return first_[role + 1]; }
  std::uint32_t roles() const { return static_cast<std::uint32_t>(waits_.size()); }

 private:
  std::vector<ProcessId> first_;                        // by role, and one past the last role's end
  std::vector<std::uint32_t> role_of_;                  // by process
  std::vector<std::vector<std::uint32_t>> dependents_;  // by role: roles that come after it
  std::vector<std::uint64_t> waits_;                    // by role: processes that it waits for
  std::vector<bool> ready_;
};

// The state of every process by the process table, and counts: how many remain, are not ready, or are stopping, and how
// much of the job's work is done. Decides nothing else; independent of time.
class ProcessStates {
 public:
  // The plan must outlive this and be one that ValidatePlan accepts.
  explicit ProcessStates(const Plan& plan);

  // Moves the process to the next state of the table. The caller must carry out the effect.
  ProcessEffect Apply(ProcessId process, ProcessInput input);
  // Prepares a restart: the process is no longer ready or done.
  ProcessEffect Renew(ProcessId process);
  // The delay before its next attempt is over.
  void BeginNextAttempt(ProcessId process);

  ProcessId count() const { return static_cast<ProcessId>(processes_.size()); }
  ProcessState state(ProcessId process) const { return processes_[process].state; }
  std::uint32_t attempt(ProcessId process) const { return processes_[process].attempt; }
  // Whether the attempt is the process's latest.
  bool IsLatest(const ProcessAttempt& who) const;
  // Starting or running.
  bool IsAtWork(ProcessId process) const;
  // The first process that is stopping.
  std::optional<ProcessId> FirstStopping() const;
  // The processes that are restarted together with the process, by the scope: all that are not waiting anyway.
  std::vector<ProcessId> Members(ProcessId process, RestartPolicy::Scope scope) const;

  // The processes of a host of the plan, ascending.
  std::span<const ProcessId> OnHost(std::uint32_t host) const;

  // An agent sent a stop signal to the process.
  void Signalled(ProcessId process, bool killed);
  bool signalled(ProcessId process) const { return processes_[process].signalled; }
  bool killed(ProcessId process) const { return processes_[process].killed; }

  // Returns the roles that may start because of it.
  std::vector<std::uint32_t> SetReady(ProcessId process);
  void SetDone(ProcessId process, bool done);
  // Which processes are ready, and which roles may start.
  const StartOrder& order() const { return order_; }

  std::uint32_t left() const { return left_; }          // not ended
  std::uint32_t unready() const { return unready_; }    // not ended and not ready
  std::uint32_t stopping() const { return stopping_; }  // ordered to stop and not ended
  // Whether every kAll process and one of each kAny role has exited with code 0. Always false if there is none.
  bool WorkIsDone() const { return has_work_ && undone_ == 0; }
  std::uint32_t undone() const { return undone_; }

 private:
  struct Progress {
    ProcessState state = ProcessState::kWaiting;
    std::uint32_t attempt = 0;
    bool signalled = false;
    bool killed = false;  // with SIGKILL
    bool done = false;    // whether it exited with code 0
  };

  const Plan& plan_;
  std::vector<Progress> processes_;
  std::vector<std::size_t> first_on_;  // by host, and one past the last: its processes in by_host_
  std::vector<ProcessId> by_host_;
  StartOrder order_;
  std::uint32_t left_ = 0;
  std::uint32_t unready_ = 0;
  std::uint32_t stopping_ = 0;
  bool has_work_ = false;
  std::uint32_t undone_ = 0;         // kAll processes and kAny roles that still lack an exit code 0
  std::vector<std::uint32_t> done_;  // by role: processes that exited with code 0
};

}  // namespace muster
