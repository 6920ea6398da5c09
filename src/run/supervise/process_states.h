// The state of every process by the process table, with the counts that follow from it: how many are left, not ready,
// stopping, and how much of the job's work is done. Decides nothing else; knows no time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/start_order.h"
#include "wire/protocol/start_messages.h"

namespace muster {

class ProcessStates {
 public:
  // The plan must outlive this and be one that ValidatePlan accepts.
  explicit ProcessStates(const Plan& plan);

  // Moves the process as the table says. The effect is the caller's to carry out.
  ProcessEffect Apply(ProcessId process, ProcessInput input);
  // It is to be started again: not ready and not done any more.
  ProcessEffect Renew(ProcessId process);
  // The pause before its next attempt is over.
  void BeginNextAttempt(ProcessId process);

  ProcessId count() const { return static_cast<ProcessId>(processes_.size()); }
  ProcessState state(ProcessId process) const { return processes_[process].state; }
  std::uint32_t attempt(ProcessId process) const { return processes_[process].attempt; }
  // Whether it is a process's latest attempt.
  bool IsLatest(const ProcessAttempt& who) const;
  // Starting or running.
  bool IsAtWork(ProcessId process) const;
  // The first process that is stopping.
  std::optional<ProcessId> FirstStopping() const;
  // What is started again with the process, by the scope: all that do not wait anyway.
  std::vector<ProcessId> Members(ProcessId process, RestartPolicy::Scope scope) const;

  // An agent delivered a stop signal to it.
  void Signalled(ProcessId process, bool killed);
  bool signalled(ProcessId process) const { return processes_[process].signalled; }
  bool killed(ProcessId process) const { return processes_[process].killed; }

  // Returns the roles that may start from now on because of it.
  std::vector<std::uint32_t> SetReady(ProcessId process);
  void SetDone(ProcessId process, bool done);
  // Which are ready, and which roles may start.
  const StartOrder& order() const { return order_; }

  std::uint32_t left() const { return left_; }          // not ended
  std::uint32_t unready() const { return unready_; }    // not ended and not ready
  std::uint32_t stopping() const { return stopping_; }  // ordered to stop and not ended
  // Whether every kAll process and one of each kAny role has exited 0. Never, if there is none.
  bool WorkIsDone() const { return has_work_ && undone_ == 0; }
  std::uint32_t undone() const { return undone_; }

 private:
  struct Progress {
    ProcessState state = ProcessState::kWaiting;
    std::uint32_t attempt = 0;
    bool signalled = false;
    bool killed = false;  // with SIGKILL
    bool done = false;    // it exited 0
  };

  const Plan& plan_;
  std::vector<Progress> processes_;
  StartOrder order_;
  std::uint32_t left_ = 0;
  std::uint32_t unready_ = 0;
  std::uint32_t stopping_ = 0;
  bool has_work_ = false;
  std::uint32_t undone_ = 0;         // kAll processes and kAny roles without an exit code 0
  std::vector<std::uint32_t> done_;  // of each role: processes that exited 0
};

}  // namespace muster
