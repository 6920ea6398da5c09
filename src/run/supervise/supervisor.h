// The supervisor: policy as a table, state × event → (state, actions).
//
// Knows the plan and what has happened. It has no clock, performs no I/O, and starts and signals nothing: the session
// carries out its actions. The same events at the same times give the same actions. It applies the job table; its parts
// keep the states of the processes, the limits, restarts, host replacement, dumps and checkpoints.
//
// The rules (docs/journal.md has them at length):
//  - A process that is not being stopped and exits non-zero, dies by a signal or cannot be started has failed. The
//    first failure is recorded before any stop is ordered; then everything else is stopped at once, each role by its
//    own StopPolicy, and later deaths are consequences.
//  - A failure that its role's RestartPolicy covers, and for which there is budget left, is none: what the policy's
//    scope names is stopped, waits for the delay, and is started again with its next attempt. Only while the job
//    starts and runs.
//  - A failure at which a foreign process was seen to hold a port that muster had chosen is none, a few times: the
//    whole job is started again with other ports (RebindOrdered, answered by PlanRebound). No restart budget is used.
//  - A lost host ends the job, unless the policies of what ran there allow a restart and there is a spare: the spare
//    then takes the host's place (ReplaceOrdered, answered by HostReplaced), and what ran there is started again on
//    it. If a process that would go on knows where the lost host is, the whole job is started again.
//  - A role starts when every process of the roles it comes after is ready. A process that exits before it is ready,
//    or misses its readiness timeout, has failed. So has a process that outlives its role's time, and the first to
//    fall silent where a whole role or job is silent for its limit.
//  - A death by a signal that muster did not send, close to a first failure that was an exit code, becomes the first
//    failure after the fact (FailureTraced): peers of a killed process can be seen to end before it. So does an
//    unasked failure on another host that was before the first one beyond the errors of the clocks, and was reported
//    later.
//  - The work is done when every process of the kAll roles and one of each kAny role has exited 0. What still runs
//    has its role's linger_ms to leave, and is stopped if it does not. One that fails while lingering still fails
//    the job; one of a kNever role that exits 0 while others are at work is only recorded.
//  - A job without kAll and kAny processes ends when all its processes have.
//  - Before processes are ended for their silence, or by a stop that asks for it, a dump is taken: what each of them is
//    doing. It has a deadline of its own, and nothing else that ends a job waits for it.
//  - Where the user or a time limit ends the job, processes whose role says so get its checkpoint signal first, and
//    no process is stopped before there is a new checkpoint (CheckpointSeen), they have all ended, or their time is
//    over.
//  - While a process has the user's terminal (PtyOpened to PtyClosed) no deadline of the job runs: time, start,
//    silence, readiness and linger. Afterwards each runs for what was left of it. A stop that was ordered keeps its
//    grace.
//  - The first cause decides outcome and exit code, whatever follows.
//  - Every stop ends: what outlives SIGKILL by kStopMarginMs is reported, not waited for.
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
#include "run/supervise/action.h"
#include "run/supervise/checkpoint_round.h"
#include "run/supervise/dump_round.h"
#include "run/supervise/job_processes.h"
#include "run/supervise/orders.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/run_cause.h"

namespace muster {

class Supervisor {
 public:
  // The plan must outlive the supervisor and be one that ValidatePlan accepts. Spares have a number of devices.
  explicit Supervisor(const Plan& plan, const std::vector<SiteHost>& spares = {});

  // All agents are ready and all ports held: start.
  std::vector<Action> Begin(MonotonicNs now);
  // They cannot be: `why` is for people.
  std::vector<Action> Abandon(std::string why, MonotonicNs now);
  std::vector<Action> Step(const Event& event, MonotonicNs now);

  Phase phase() const { return phase_; }
  ProcessState state(ProcessId process) const { return processes_.states().state(process); }
  std::uint32_t attempt(ProcessId process) const { return processes_.states().attempt(process); }
  bool AtWork() const { return phase_ == Phase::kStarting || phase_ == Phase::kRunning; }
  // Which machine stands for which host now.
  const HostSlots& slots() const { return processes_.hosts().slots(); }
  Cause cause() const { return cause_.cause(); }
  const std::optional<FirstFailure>& first_failure() const { return cause_.first_failure(); }
  // Whether a dump can be taken: whether there can be processes.
  bool CanDump() const { return AtWork() || phase_ == Phase::kLingering || phase_ == Phase::kStopping; }
  // Whether processes were asked for a checkpoint, and their stop waits for it.
  bool awaits_checkpoint() const { return checkpoint_.under_way(); }
  // The number of the dump that is being taken; 0: none is.
  std::uint32_t dumping() const { return dump_.under_way() ? dump_.number() : 0; }
  // Whether a stop was asked for and waits for the dump.
  bool dump_delays_stop() const { return dump_.under_way() && dump_.waiting().stop.has_value(); }
  // The journal's last record: cause, exit code and one sentence. Meaningful once the phase is kDone.
  RunEnded Ended(bool pass_exit_code) const { return cause_.Ended(pass_exit_code); }

 private:
  void On(const Event& event);
  void OnEnded(const ProcessFailure& end, const std::string& how);
  void OnStopRequested(const StopRequested& event);
  void OnMachineOver(std::uint32_t machine, bool attested, const std::string& how);
  void OnDeadline(std::uint64_t timer);
  // A running process took too long: it has failed, though it is still there.
  void PassLimit(ProcessId process, std::string_view limit, std::uint64_t ms);
  // Then what waited for the dump is done.
  void EndDump(bool complete);
  void FinishCheckpoint();

  // Performs the job table's effects of the input; of none, nothing.
  void Apply(std::optional<JobInput> input);
  // Applies inputs that follow from counts, until none is due, and returns the actions.
  std::vector<Action> Settle();

  const Plan& plan_;
  Phase phase_ = Phase::kPreparing;
  Orders orders_;
  JobProcesses processes_;
  RunCause cause_;
  DumpRound dump_;
  CheckpointRound checkpoint_;
  // Of the event at hand.
  std::string why_;
  ProcessFailure failing_;
  std::uint32_t linger_role_ = 0;
};

}  // namespace muster
