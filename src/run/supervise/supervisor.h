// The Supervisor: policy as a table, state × event → (state, actions).
//
// Knows the plan and what has happened; has no clock, does no I/O, starts and signals nothing: it says
// what is to be done and the session does it. The same events at the same times give the same actions.
//
// The rules (docs/journal.md tells them at length):
//  - A process that is not being stopped and exits non-zero, dies by a signal or cannot be started has
//    failed. The first one is recorded before any stop is ordered; then everything else is stopped at
//    once, each role by its own StopPolicy, and later deaths are its victims.
//  - A failure that its role's RestartPolicy covers, and for which there is budget left, is none: what the policy's
//    scope names is stopped, waits for the delay, and is started again with its next attempt. Only while the job
//    starts and runs.
//  - A failure at which a stranger was seen to have a port that muster had chosen is none, a few times: the whole job
//  is
//    started again with other ports (RebindOrdered, answered by PlanRebound). No restart budget is used for it.
//  - A lost host ends the job, unless the policies of what ran there allow a restart and there is a spare: it then
//    takes the host's place (ReplaceOrdered, answered by HostReplaced), and what ran there is started again on it. What
//    was told where the lost host is, and would go on, is started again with it: then the whole job is.
//  - A role starts when every process of the roles it comes after is ready. Who cannot become ready any more, or not
//    in time, has failed. So has a process that outlives its role's time, and the first to fall silent where a whole
//    role or job is silent for its limit.
//  - A death by a signal that muster did not send, close to a first failure that was an exit code, becomes the
//    origin after the fact (FailureTraced): peers of a killed process can be seen to end before it. So does an unasked
//    failure on another host that was before the first one beyond the errors of the clocks, and was heard of later.
//  - The work is done when every process of the kAll roles and one of each kAny role has exited 0. What still runs
//    has its role's linger_ms to leave, and is stopped if it does not. One that fails while lingering still fails
//    the job; one of a kNever role that exits 0 while others are at work is recorded and left at that.
//  - A job without kAll and kAny processes ends when all its processes have.
//  - Before processes are ended for their silence, or by a stop that asks for it, a dump is taken: what each of them is
//    doing. It has a deadline of its own, and nothing else that ends a job waits for it.
//  - Where the user or a time limit ends the job, processes whose role says so get its checkpoint signal first, and
//    nobody is stopped before there is a new checkpoint (CheckpointSeen), they have all ended, or their time is over.
//  - While a process has the user's terminal (PtyOpened to PtyClosed) no deadline of the job runs: time, start,
//  silence,
//    readiness and linger. What was left of each is left afterwards. A stop that was ordered keeps its grace.
//  - The first cause decides outcome and exit code, whatever follows.
//  - Every stop ends: what outlives SIGKILL by kStopMarginMs is reported, not waited for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/journal/event_order.h"
#include "run/journal/head_facts.h"
#include "run/supervise/host_slots.h"
#include "run/supervise/restart_budget.h"
#include "run/supervise/silence_watch.h"
#include "run/supervise/start_order.h"
#include "run/supervise/timer_queue.h"
#include "wire/protocol/dump_messages.h"
#include "wire/protocol/start_messages.h"

namespace muster {

// --- what the supervisor asks for ------------------------------------------------------------------

// Actions are to be performed in the order given. Those that are facts are to be journalled; a fact
// precedes the actions it explains.
struct ArmTimer {
  std::uint64_t timer = 0;
  MonotonicNs deadline = 0;

  bool operator==(const ArmTimer&) const = default;
};

struct DisarmTimer {
  std::uint64_t timer = 0;

  bool operator==(const DisarmTimer&) const = default;
};

// Nothing more will come: the job is over.
struct EndRun {
  bool operator==(const EndRun&) const = default;
};

using Action = std::variant<StartOrdered, StopOrdered, FinishOrdered, ArmTimer, DisarmTimer, EndRun, PhaseChanged,
                            FirstFailure, FailureTraced, EndedEarly, StrayEvent, RestartPlanned, LimitPassed, AskOutput,
                            RebindOrdered, DumpOrdered, DumpEnded, ReplaceOrdered>;

inline constexpr std::uint32_t kMostRebinds = 3;          // how often a job gets other ports
inline constexpr std::uint32_t kStopMarginMs = 5'000;     // after the last grace, for SIGKILL to take effect
inline constexpr std::uint32_t kFinishMarginMs = 30'000;  // for every agent to attest the end
inline constexpr std::uint32_t kDumpMs = 10'000;          // for tools that show stacks, all of them together
inline constexpr std::uint32_t kDumpMarginMs = 3'000;     // after that, for every agent to tell
inline constexpr std::uint32_t kTraceMs = 250;            // how much later than the first failure its cause may be seen

// Timers by number (docs/journal.md).
inline constexpr std::uint64_t kTimeTimer = 1;
inline constexpr std::uint64_t kStopTimer = 2;
inline constexpr std::uint64_t kFinishTimer = 3;
inline constexpr std::uint64_t kStartTimer = 4;
inline constexpr std::uint64_t kSilenceTimer = 5;
inline constexpr std::uint64_t kDumpTimer = 6;
inline constexpr std::uint64_t kCheckpointTimer = 7;
inline constexpr std::uint64_t kLingerTimers = 16;                           // + role
inline constexpr std::uint64_t kReadyTimers = std::uint64_t{1} << 32;        // + process
inline constexpr std::uint64_t kProcessTimeTimers = std::uint64_t{2} << 32;  // + process
inline constexpr std::uint64_t kRenewalTimers = std::uint64_t{3} << 32;      // + a number of its own for each restart

// Whether it is a deadline of the job that does not run while a process has the user's terminal.
constexpr bool Pauses(std::uint64_t timer) {
  return timer == kTimeTimer || timer == kStartTimer || timer == kSilenceTimer ||
         (timer >= kLingerTimers && timer < kRenewalTimers);
}

// --- the tables ------------------------------------------------------------------------------------

enum class ProcessState : std::uint8_t {
  kWaiting,   // to be started; its role may have to wait for others
  kStarting,  // ordered
  kRunning,
  kStopping,  // told to end
  kResting,   // ended, to be started again
  kEnded
};
inline constexpr int kProcessStates = 6;

enum class ProcessInput : std::uint8_t {
  kStart,  // it may
  kStarted,
  kSpawnFailed,
  kExitedWell,   // exit code 0
  kExitedBadly,  // any other code, or a signal
  kStop,         // the job, or its role, is to stop
  kKill,         // … at once
  kLost,         // its host's agent is gone
  kRenew,        // it is to be started again, and to end for that if it runs
  kRest,         // it ended, and is to be started again
  kRested        // now
};
inline constexpr int kProcessInputs = 11;

enum class ProcessEffect : std::uint8_t {
  kUndecided,  // no cell may hold this
  kNothing,
  kStray,   // fits nothing that was ordered
  kStart,   // order the start
  kSignal,  // order the stop
  kWell,    // over, as it should be
  kFailed,  // over, and not asked to be
  kOver     // over because it was asked, or was never or no longer to be had
};

struct ProcessCell {
  ProcessState next = ProcessState::kEnded;
  ProcessEffect effect = ProcessEffect::kUndecided;
};
const ProcessCell& Decide(ProcessState state, ProcessInput input);

enum class JobInput : std::uint8_t {
  kBegin,
  kUnready,
  kAllReady,
  kFailed,
  kMustsEnded,  // all kAll processes and one of each kAny role exited 0
  kAllEnded,    // no process is left
  kLost,
  kStop,        // the user, once
  kStopAtOnce,  // twice
  kInsist,      // more often
  kTimePassed,
  kLingerPassed,
  kStopOverdue,
  kFinishOverdue,
  kAgentsEmpty  // every agent attested its end or is lost
};
inline constexpr int kJobInputs = 15;

// Effects of a job cell, performed in this order.
enum JobEffect : std::uint32_t {
  kDecided = 1U << 0,    // set in every cell
  kBlame = 1U << 1,      // the input is the job's cause unless it has one
  kStartAll = 1U << 2,   // order every start, arm the time limit
  kLinger = 1U << 3,     // arm a timer for each serving role, disarm the time limit
  kStopRole = 1U << 4,   // stop the role whose linger time passed
  kStopAll = 1U << 5,    // stop all by their policies
  kKillAll = 1U << 6,    // SIGKILL to all
  kFinishAll = 1U << 7,  // tell the agents to end
  kEnd = 1U << 8
};

struct JobCell {
  Phase next = Phase::kDone;
  std::uint32_t effects = 0;
};
const JobCell& Decide(Phase phase, JobInput input);

// --- the supervisor --------------------------------------------------------------------------------

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
  ProcessState state(ProcessId process) const { return processes_[process].state; }
  std::uint32_t attempt(ProcessId process) const { return processes_[process].attempt; }
  bool AtWork() const;  // starting or running
  // Which machine stands for which host now.
  const HostSlots& slots() const { return slots_; }
  Cause cause() const { return cause_; }
  const std::optional<FirstFailure>& first_failure() const { return first_failure_; }
  // Whether a dump can be taken: whether there can be processes.
  bool CanDump() const;
  // Whether processes were asked for a checkpoint, and their stop waits for it.
  bool awaits_checkpoint() const { return !checkpointing_.empty(); }
  // The number of the dump that is being taken; 0: none is.
  std::uint32_t dumping() const { return dumping_ ? dump_ : 0; }
  // Whether a stop was asked for and waits for the dump.
  bool dump_delays_stop() const { return dumping_ && dumping_->stop; }
  // The journal's last record: cause, exit code and one sentence. Meaningful once the phase is kDone.
  RunEnded Ended(bool pass_exit_code) const;

 private:
  struct Progress {
    ProcessState state = ProcessState::kWaiting;
    std::uint32_t attempt = 0;
    bool signalled = false;                // an agent delivered a stop signal to it
    bool killed = false;                   // … and SIGKILL
    bool well = false;                     // it exited 0
    std::optional<std::uint64_t> renewal;  // by which it is stopped, or rests
  };
  // Processes on their way to their next attempt: those of one restart, whoever ended it first.
  struct Renewal {
    std::vector<ProcessId> processes;
    std::uint32_t members = 0;   // of them, not taken over by a wider restart
    std::uint32_t stopping = 0;  // of these, not ended yet
    bool rested = false;         // the delay is over
  };

  void Apply(JobInput input, MonotonicNs now);
  // The cell's effect, with the counts kept; what it asks for is the caller's to do.
  ProcessEffect ApplyTo(ProcessId process, ProcessInput input);
  // Inputs that follow from counts, until none is due.
  void Settle(MonotonicNs now);
  std::optional<JobInput> DueFromCounts() const;
  void On(const Event& event, MonotonicNs now);
  // Whether the event is about a process's latest attempt; if not it is a stray.
  bool IsCurrent(const ProcessAttempt& who, std::string_view what);
  void OnStarted(const ProcessAttempt& who, MonotonicNs now);
  void OnEnd(const ProcessAttempt& who, HowEnded end, const std::string& how, MonotonicNs now);
  // Whether this end, of a process that was told to stop, is rather what made the first failure fail, or was before it.
  void TraceFailure(const ProcessExited& exit);
  bool MayBeCause(const ProcessExited& exit) const;
  bool CameFirst(const ProcessExited& exit) const;
  Moment MomentOf(const ProcessExited& exit) const;
  // The process ended badly or must end: a restart, or the job's failure.
  void OnFailure(const ProcessAttempt& who, const HowEnded& end, MonotonicNs now);
  void OnWell(const ProcessAttempt& who, const HowEnded& end, MonotonicNs now);
  void MarkWell(ProcessId process, bool well);
  void OnReady(const ProcessReady& event);
  void Blame(JobInput input);
  void StartAll(MonotonicNs now);
  void StartRole(std::uint32_t role);
  void BecameReady(ProcessId process);
  void Linger(MonotonicNs now);

  // --- hosts (supervisor_hosts.cc) ---
  void OnHostOver(std::uint32_t machine, bool attested, const std::string& why, MonotonicNs now);
  // One restart because of a lost host.
  struct Relocation {
    ProcessId ended = 0;  // a process that ran there, whose role's budget pays
    RestartPolicy::Scope scope = RestartPolicy::Scope::kProcess;
    std::vector<ProcessId> members;
    std::string because;  // of more than its policy says; added to why_
    RestartBudget::Grant grant;
  };
  // Lets a spare take the host's place, with what ran there to be started again. False, with why_ told, if the policies
  // do not allow it or there is none.
  bool Relocate(std::uint32_t host, MonotonicNs now);
  std::optional<std::vector<Relocation>> PlanRelocation(std::uint32_t host);
  void OnReplaced(const HostReplaced& event, MonotonicNs now);

  // --- limits (supervisor_limits.cc) ---
  void OnOutput(const OutputSeen& event, MonotonicNs now);
  // The machine has told, or never will: whether it was the last.
  bool AnsweredOutput(std::uint32_t machine);
  void OnDeadline(std::uint64_t timer, MonotonicNs now);
  void OnProcessDeadline(std::uint64_t timer, MonotonicNs now);
  // A running process took too long: it has failed, though it is still there.
  void PassLimit(ProcessId process, std::string_view limit, std::uint64_t ms, MonotonicNs now);
  void OnPtyOpened(const ProcessAttempt& who, MonotonicNs now);
  // The attempt has the user's terminal no more, if it had it.
  void OnPtyGone(const ProcessAttempt& who, MonotonicNs now);
  // "worker.0 was not", "worker.0 and 3 more were not"
  std::string UnreadyText() const;

  // --- restarts (supervisor_restart.cc) ---
  // False, with why_ told, if the budget of the process's role is spent or the job is not at work any more.
  bool Restart(const ProcessAttempt& who, MonotonicNs now);
  void OnTaken(const PortTaken& event, MonotonicNs now);
  // The whole job, with other ports; false, with why_ told, if that does not help or has been tried too often.
  bool RestartElsewhere(const ProcessAttempt& who, MonotonicNs now);
  void OnRebound(const PlanRebound& event, MonotonicNs now);
  // What is started again with the process, by the scope: all that do not wait anyway.
  std::vector<ProcessId> RestartMembers(ProcessId process, RestartPolicy::Scope scope) const;
  // The number of the renewal; the caller sees to it that its delay is over one day.
  std::uint64_t BeginRenewal(const std::vector<ProcessId>& members, MonotonicNs now);
  void LeaveRenewal(ProcessId process);
  // The process ended while its renewal waited for that.
  void OnRenewedEnded(ProcessId process);
  void OnDelayOver(std::uint64_t renewal);
  void RenewIfDue(std::uint64_t renewal);
  // What may be started now that the binding is made anew.
  void StartDue();
  void ForgetRenewals();

  // --- dumps (supervisor_dump.cc) ---
  // Joins the one that is being taken.
  void TakeDump(std::string_view why, MonotonicNs now);
  void OnStopRequested(const StopRequested& event, MonotonicNs now);
  void OnSilent(const SilenceWatch::Silent& silent, MonotonicNs now);
  // The host has told all, or never will.
  void OnHostDumped(std::uint32_t host, std::uint32_t dump, MonotonicNs now);
  // Then what waited for it is done.
  void EndDump(bool complete, MonotonicNs now);
  // What waited for it does so no more: the agents are told to end.
  void CutDump();

  // --- checkpoints (supervisor_checkpoint.cc) ---
  // Asks those who can write one, at the end that the job comes to; false if there is nobody.
  bool AskCheckpoint(MonotonicNs now);
  // The wait is over: everybody is stopped.
  void EndCheckpoint(MonotonicNs now);
  // Nobody waits for it any more.
  void CutCheckpoint();

  // Orders the stops of these processes, in the plan's order, and arms the timer that watches over them.
  void OrderStops(const std::vector<ProcessId>& processes, bool at_once, MonotonicNs now);
  void Stop(MonotonicNs now, std::optional<std::uint32_t> only_role, bool at_once);
  void Arm(std::uint64_t timer, MonotonicNs deadline);
  void Disarm(std::uint64_t timer);
  void DisarmAll();

  // Of a process in that state there may be something on its host.
  static bool IsThere(ProcessState state) {
    return state == ProcessState::kStarting || state == ProcessState::kRunning || state == ProcessState::kStopping;
  }
  const Role& RoleOf(ProcessId process) const;
  std::string NameOf(ProcessId process) const;  // "worker.2"
  std::vector<Action> Take();

  const Plan& plan_;
  Phase phase_ = Phase::kPreparing;
  Cause cause_ = Cause::kNone;
  std::string cause_why_;
  std::int32_t passed_code_ = 1;  // what --pass-exit-code hands on
  // Of the event at hand.
  std::string why_;
  ProcessAttempt failing_;
  HowEnded failing_end_;
  MonotonicNs failing_at_ = 0;
  MonotonicNs now_ = 0;
  std::int32_t stop_signal_ = 0;
  std::uint32_t linger_role_ = 0;

  std::optional<FirstFailure> first_failure_;
  MonotonicNs first_failure_at_ = 0;            // on its host
  bool first_failure_by_code_ = false;          // it exited; no signal ended it
  std::optional<Moment> first_failure_moment_;  // when that was, if it was an end
  std::optional<Moment> failing_moment_;        // of the end at hand
  HostClocks clocks_;                           // by machine
  std::vector<Progress> processes_;
  HostSlots slots_;
  std::set<std::uint32_t> replacing_;  // hosts of the plan whose places are being taken: nothing is started meanwhile
  std::vector<bool> machine_over_;
  std::uint32_t machines_left_ = 0;
  std::uint32_t left_ = 0;           // processes not ended
  std::uint32_t unready_ = 0;        // of those, not ready
  std::uint32_t stopping_ = 0;       // processes told to stop and not ended
  std::uint32_t musts_ = 0;          // kAll processes and kAny roles of the plan
  std::uint32_t musts_left_ = 0;     // of those, without an exit code 0
  std::vector<std::uint32_t> well_;  // of each role: processes that exited 0
  StartOrder order_;
  SilenceWatch silence_;
  std::vector<RestartBudget> budgets_;  // of each role
  std::map<std::uint64_t, Renewal> renewals_;
  std::uint64_t next_renewal_ = 0;
  // The dump that is being taken, and what comes after it.
  struct Dump {
    std::vector<bool> due;  // of each machine: whether it has to tell yet
    std::uint32_t left = 0;
    std::optional<StopRequested> stop;
    std::optional<SilenceWatch::Silent> silent;
    std::uint32_t silent_attempt = 0;
  };
  std::vector<ProcessId> checkpointing_;  // were asked for a checkpoint that is waited for
  std::uint32_t dump_ = 0;
  std::optional<Dump> dumping_;
  std::optional<PortTaken> taken_;  // the latest
  std::uint32_t rebinds_ = 0;
  bool rebinding_ = false;               // nothing is started meanwhile
  std::set<std::uint32_t> answers_due_;  // machines that were asked what is written and have not told
  TimerQueue timers_;
  std::optional<ProcessAttempt> at_terminal_;  // who has the user's terminal, …
  MonotonicNs paused_at_ = 0;                  // … since when, …
  std::map<std::uint64_t, MonotonicNs> held_;  // … and how much is left of timers that do not run meanwhile
  std::vector<Action> actions_;
};

}  // namespace muster
