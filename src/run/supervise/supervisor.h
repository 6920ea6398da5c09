// The supervisor: policy as a table, state × event → (state, actions).
//
// Depends on the plan and the events so far. It has no clock, performs no I/O, and starts and signals nothing: the
// session carries out its actions. The same events at the same times give the same actions. It applies the job table;
// its parts track the states of the processes, limits, restarts, host replacement, dumps and checkpoints.
//
// The rules (see docs/journal.md for details):
// - A process that exits non-zero, dies by a signal or cannot be started has failed, unless it is being stopped. The
//   first failure is recorded before any stop is ordered; then all other processes are stopped at once, by the
//   StopPolicy of their role, and later failures are consequences.
// - A failure that its role's RestartPolicy covers does not fail the job while budget is left: the processes in the
//   policy's scope are stopped and, after the delay, started again as their next attempt. Only while the job is
//   starting or running.
// - Each of these failures gets a verdict (FailureJudged) by rules over the failures so far. A policy that follows
//   verdicts restarts nothing after STOP. After EXCLUDE HOST the processes of the host are stopped as well, a spare
//   replaces it once all have ended, and they are started again there.
// - A failure for which a foreign process was seen to hold a port that muster had chosen does not fail the job, a few
//   times: the whole job is restarted with other ports (RebindOrdered, answered by PlanRebound). This uses no restart
//   budget.
// - A lost host ends the job, unless the policies of its processes allow a restart and there is a spare: the spare then
//   replaces the host (ReplaceOrdered, answered by HostReplaced), and the host's processes are started again on it. If
//   another process that would continue uses the address of the lost host, the whole job is restarted.
// - A role starts when every process of the roles it comes after is ready. A process that exits before it is ready,
//   misses its readiness timeout, or exceeds its role's time limit has failed; if a whole role or
//   job is silent for its limit, so has the process that a dump shows apart from the others, or else the one that fell
//   silent first.
// - A death by a signal that muster did not send, close to a first failure that was an exit code, becomes the first
//   failure afterwards (FailureTraced): peers of a killed process can be seen to end before it. So does a failure
//   without a stop on another host that was earlier than the first one by more than the clock errors, but was reported
//   later, and at the end of the run one that an older error file proves (Correct).
// - The work is done when every process of the kAll roles and one of each kAny role has exited with code 0. The
//   remaining processes have the linger_ms of their role to exit, and are stopped if they do not. A failure while
//   lingering still fails the job; if a process of a kNever role exits with code 0 before the work is done, that is
//   only recorded.
// - A job without kAll and kAny processes ends when all its processes have ended.
// - Before processes are ended for their silence, or by a stop that requests it, a dump of their states is taken. It
//   has a deadline of its own, and no other end of the job waits for it.
// - If the user or a time limit ends the job, processes whose role has a checkpoint signal get it first. No process is
//   stopped before there is a new checkpoint (CheckpointSeen), all signalled processes have ended, or their time is
//   over.
// - While a process has the user's terminal (PtyOpened to PtyClosed) the deadlines of the job are paused: time, start,
//   silence, readiness and linger. Afterwards each continues with its remaining time. An ordered stop keeps its grace.
// - The first cause decides outcome and exit code, whatever follows.
// - Every stop ends: a process that survives SIGKILL for kStopMarginMs is reported, not waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/journal/head_facts.h"
#include "run/supervise/dump_round.h"
#include "run/supervise/job_processes.h"
#include "run/supervise/orders.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/run_cause.h"

namespace muster {

class Supervisor {
 public:
  // The plan must outlive the supervisor and be one that ValidatePlan accepts. Spares must have a number of devices.
  explicit Supervisor(const Plan& plan, const std::vector<SiteHost>& spares = {});
  // From now on gives verdicts by these rules on failures while the job is at work; both must outlive the supervisor.
  // Called before Begin().
  void JudgeBy(const std::vector<VerdictRule>& rules, FailureSource& source) { processes_.JudgeBy(rules, source); }

  // All agents are ready and all ports held: starts the job.
  std::vector<Action> Begin(MonotonicNs now);
  // The job cannot start; `why` is for the user.
  std::vector<Action> Abandon(std::string why, MonotonicNs now);
  std::vector<Action> Step(const Event& event, MonotonicNs now);

  Phase phase() const { return phase_; }
  ProcessState state(ProcessId process) const { return processes_.states().state(process); }
  std::uint32_t attempt(ProcessId process) const { return processes_.states().attempt(process); }
  bool AtWork() const { return phase_ == Phase::kStarting || phase_ == Phase::kRunning; }
  // The current mapping of hosts to machines.
  const HostSlots& slots() const { return processes_.hosts().slots(); }
  Cause cause() const { return cause_.cause(); }
  const std::optional<FirstFailure>& first_failure() const { return cause_.first_failure(); }
  // Whether a dump can be taken, that is, whether processes may be running.
  bool CanDump() const { return AtWork() || phase_ == Phase::kLingering || phase_ == Phase::kStopping; }
  // Whether processes got their checkpoint signal, and the stop waits for a checkpoint.
  bool awaits_checkpoint() const { return checkpoint_.under_way(); }
  // The number of the dump in progress; 0: none.
  std::uint32_t dumping() const { return dump_.under_way() ? dump_.number() : 0; }
  // Whether a requested stop waits for the dump.
  bool dump_delays_stop() const { return dump_.under_way() && dump_.waiting().stop.has_value(); }
  // After the end of a job that failed: another origin, which evidence proves.
  FailureTraced Correct(const ProcessExited& exit, const std::string& why) {
    cause_.Correct(exit, why);
    return {exit.process, exit.attempt};
  }
  // The journal's last record: cause, exit code and one sentence. Meaningful once the phase is kDone.
  RunEnded Ended(bool pass_exit_code) const { return cause_.Ended(pass_exit_code); }

 private:
  void On(const Event& event);
  void OnEnded(const ProcessFailure& end, const std::string& how);
  void OnStopRequested(const StopRequested& event);
  void OnMachineOver(std::uint32_t machine, bool attested, const std::string& how);
  void OnDeadline(std::uint64_t timer);
  // A running process exceeded a limit: it has failed, although it still exists.
  void PassLimit(LimitPassed passed, bool of_several = false);
  // Ends the dump; then performs what waited for it.
  void EndDump(bool complete);

  // Performs the job table's effects of the input; nothing without an input.
  void Apply(std::optional<JobInput> input);
  // Applies inputs that follow from counts until none is left, and returns the actions.
  std::vector<Action> Settle();

  const Plan& plan_;
  Phase phase_ = Phase::kPreparing;
  Orders orders_;
  JobProcesses processes_;
  RunCause cause_;
  DumpRound dump_;
  CheckpointRound checkpoint_;
  // The reason of the current event.
  std::string why_;
  ProcessFailure failing_;
  std::uint32_t linger_role_ = 0;
};

}  // namespace muster
