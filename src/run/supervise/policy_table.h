// The two tables of the supervisor: what an input means to a process in its state, and to the job in its phase.
#pragma once

#include <cstdint>

#include "muster/event.h"
#include "run/journal/head_facts.h"

namespace muster {

enum class ProcessState : std::uint8_t {
  kWaiting,   // to be started; its role may have to wait for others
  kStarting,  // ordered
  kRunning,
  kStopping,  // ordered to stop
  kResting,   // ended, to be started again
  kEnded
};
inline constexpr int kProcessStates = 6;

enum class ProcessInput : std::uint8_t {
  kStart,  // it may
  kStarted,
  kSpawnFailed,
  kExitedWithSuccess,  // exit code 0
  kExitedBadly,        // any other code, or a signal
  kStop,               // the job, or its role, is to stop
  kKill,               // … at once
  kLost,               // its host's agent is gone
  kRenew,              // it is to be started again, and to end for that if it runs
  kRest,               // it ended, and is to be started again
  kRested              // now
};
inline constexpr int kProcessInputs = 11;

enum class ProcessEffect : std::uint8_t {
  kUndecided,  // no cell may hold this
  kNothing,
  kStray,    // fits nothing that was ordered
  kStart,    // order the start
  kSignal,   // order the stop
  kSucceed,  // over, as it should be
  kFailed,   // over, and not asked to be
  kOver      // over because it was asked, or was never or no longer to be had
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
  kFinishAll = 1U << 7,  // order the agents to end
  kEnd = 1U << 8
};

struct JobCell {
  Phase next = Phase::kDone;
  std::uint32_t effects = 0;
};
const JobCell& Decide(Phase phase, JobInput input);

}  // namespace muster
