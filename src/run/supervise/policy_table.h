// The two tables of the supervisor: the effect of an input on a process in its state, and on the job in its phase.
#pragma once

#include <cstdint>

#include "muster/event.h"
#include "run/journal/head_facts.h"

namespace muster {

enum class ProcessState : std::uint8_t {
  kWaiting,   // to be started; its role may have to wait for others
  kStarting,  // its start was ordered
  kRunning,
  kStopping,  // its stop was ordered
  kResting,   // ended, and will be started again
  kEnded
};
inline constexpr int kProcessStates = 6;

enum class ProcessInput : std::uint8_t {
  kStart,  // the process may start
  kStarted,
  kSpawnFailed,
  kExitedWithSuccess,  // exit code 0
  kExitedBadly,        // any other code, or a signal
  kStop,               // the job, or its role, must stop
  kKill,               // … at once
  kLost,               // its host's agent is gone
  kRenew,              // must be started again, and stopped for that if it is running
  kRest,               // ended, and will be started again
  kRested              // the delay before its restart is over
};
inline constexpr int kProcessInputs = 11;

enum class ProcessEffect : std::uint8_t {
  kUndecided,  // must not be in any cell
  kNothing,
  kStray,    // does not match what was ordered
  kStart,    // order the start
  kSignal,   // order the stop
  kSucceed,  // ended as intended
  kFailed,   // ended without an order
  kOver      // ended because of an order, lost, or never started
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
  kMustsEnded,  // all kAll processes and one of each kAny role have exited with code 0
  kAllEnded,    // no process remains
  kLost,
  kStop,        // the user requested a stop once
  kStopAtOnce,  // twice
  kInsist,      // more often
  kTimePassed,
  kLingerPassed,
  kStopOverdue,
  kFinishOverdue,
  kAgentsEmpty  // every agent has reported its end or is lost
};
inline constexpr int kJobInputs = 15;

// Effects of a job cell, performed in this order.
enum JobEffect : std::uint32_t {
  kDecided = 1U << 0,    // set in every cell
  kBlame = 1U << 1,      // the input is the job's cause unless it has one
  kStartAll = 1U << 2,   // order all starts, arm the time limit
  kLinger = 1U << 3,     // arm a timer for each serving role, disarm the time limit
  kStopRole = 1U << 4,   // stop the role whose linger time passed
  kStopAll = 1U << 5,    // stop all processes by their policies
  kKillAll = 1U << 6,    // SIGKILL to all processes
  kFinishAll = 1U << 7,  // order the agents to exit
  kEnd = 1U << 8
};

struct JobCell {
  Phase next = Phase::kDone;
  std::uint32_t effects = 0;
};
const JobCell& Decide(Phase phase, JobInput input);

}  // namespace muster
