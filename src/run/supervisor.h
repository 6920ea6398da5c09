// The Supervisor: policy as a table, state × event → (state, actions).
//
// Knows the plan and what has happened; has no clock, does no I/O, starts and signals nothing: it says
// what is to be done and the session does it. The same events at the same times give the same actions.
//
// The rules (docs/journal.md tells them at length):
//  - A process that is not being stopped and exits non-zero, dies by a signal or cannot be started has
//    failed. The first one is recorded before any stop is ordered; then everything else is stopped at
//    once, each role by its own StopPolicy, and later deaths are its victims.
//  - A death by a signal that muster did not send, close to a first failure that was an exit code, becomes the
//    origin after the fact (FailureTraced): peers of a killed process can be seen to end before it.
//  - The job has ended well when every process of the kAll roles has exited 0. The kNever roles then have
//    linger_ms to leave, and are stopped if they do not. One that fails while lingering still fails the
//    job; one that exits 0 while kAll roles are at work is recorded and left at that.
//  - A job without kAll processes ends when all its processes have.
//  - The first cause decides outcome and exit code, whatever follows.
//  - Every stop ends: what outlives SIGKILL by kStopMarginMs is reported, not waited for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/protocol.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "run/facts.h"

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
                            FirstFailure, FailureTraced, EndedEarly, StrayEvent>;

inline constexpr std::uint32_t kStopMarginMs = 5'000;     // after the last grace, for SIGKILL to take effect
inline constexpr std::uint32_t kFinishMarginMs = 30'000;  // for every agent to attest the end
inline constexpr std::uint32_t kTraceMs = 250;            // how much later than the first failure its cause may be seen

// --- the tables ------------------------------------------------------------------------------------

enum class ProcessState : std::uint8_t { kWaiting, kStarting, kRunning, kStopping, kEnded };
inline constexpr int kProcessStates = 5;

enum class ProcessInput : std::uint8_t {
  kStart,  // the job starts
  kStarted,
  kSpawnFailed,
  kExitedWell,   // exit code 0
  kExitedBadly,  // any other code, or a signal
  kStop,         // the job, or its role, is to stop
  kKill,         // … at once
  kLost          // its host's agent is gone
};
inline constexpr int kProcessInputs = 8;

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
  kAllStarted,
  kFailed,
  kMustsEnded,  // all kAll processes exited 0
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
  // The plan must outlive the supervisor and be one that ValidatePlan accepts.
  explicit Supervisor(const Plan& plan);

  // All agents are ready and all ports held: start.
  std::vector<Action> Begin(MonotonicNs now);
  // They cannot be: `why` is for people.
  std::vector<Action> Abandon(std::string why, MonotonicNs now);
  std::vector<Action> Step(const Event& event, MonotonicNs now);

  Phase phase() const { return phase_; }
  ProcessState state(ProcessId process) const { return processes_[process].state; }
  std::uint32_t attempt(ProcessId process) const { return processes_[process].attempt; }
  Cause cause() const { return cause_; }
  const std::optional<FirstFailure>& first_failure() const { return first_failure_; }
  // The journal's last record: cause, exit code and one sentence. Meaningful once the phase is kDone.
  RunEnded Ended(bool pass_exit_code) const;

 private:
  struct Progress {
    ProcessState state = ProcessState::kWaiting;
    std::uint32_t attempt = 0;
    bool signalled = false;  // an agent delivered a stop signal to it
    bool killed = false;     // … and SIGKILL
  };

  void Apply(JobInput input, MonotonicNs now);
  // The cell's effect, with the counts kept; what it asks for is the caller's to do.
  ProcessEffect ApplyTo(ProcessId process, ProcessInput input);
  // Inputs that follow from counts, until none is due.
  void Settle(MonotonicNs now);
  std::optional<JobInput> DueFromCounts() const;
  void On(const Event& event, MonotonicNs now);
  // A process event: strays are recorded, a failure becomes the job's input.
  void OnProcess(const ProcessAttempt& who, ProcessInput input, std::string why, MonotonicNs now);
  // Whether this end, of a process that was told to stop, is rather what made the first failure fail.
  void TraceFailure(const ProcessExited& exit);
  void OnHostOver(std::uint32_t host, bool attested, const std::string& why, MonotonicNs now);
  void OnDeadline(std::uint64_t timer, MonotonicNs now);
  void Blame(JobInput input);
  void StartAll(MonotonicNs now);
  void Linger(MonotonicNs now);
  void Stop(MonotonicNs now, std::optional<std::uint32_t> only_role, bool at_once);
  void Arm(std::uint64_t timer, MonotonicNs deadline);
  void Disarm(std::uint64_t timer);
  std::vector<Action> Take();

  const Plan& plan_;
  Phase phase_ = Phase::kPreparing;
  Cause cause_ = Cause::kNone;
  std::string cause_why_;
  std::int32_t passed_code_ = 1;  // what --pass-exit-code hands on
  // Of the event at hand.
  std::string why_;
  ProcessAttempt failing_;
  bool failing_to_spawn_ = false;
  std::int32_t failing_code_ = 1;
  bool failing_by_code_ = false;
  MonotonicNs failing_at_ = 0;
  std::int32_t stop_signal_ = 0;
  std::uint32_t linger_role_ = 0;

  std::optional<FirstFailure> first_failure_;
  MonotonicNs first_failure_at_ = 0;    // on its host
  bool first_failure_by_code_ = false;  // it exited; no signal ended it
  std::vector<Progress> processes_;
  std::vector<bool> host_over_;
  std::uint32_t hosts_left_ = 0;
  std::uint32_t left_ = 0;        // processes not ended
  std::uint32_t unstarted_ = 0;   // processes waiting or starting
  std::uint32_t musts_ = 0;       // kAll processes of the plan
  std::uint32_t musts_left_ = 0;  // of those, not exited 0
  std::map<std::uint64_t, MonotonicNs> armed_;
  std::vector<Action> actions_;
};

}  // namespace muster
