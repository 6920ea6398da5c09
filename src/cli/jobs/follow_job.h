// Follows a submitted run from the outside: waits while its job is queued, and shows its attempts as `muster run`
// shows a run, to the end of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/jobs/job_of_run.h"
#include "run/console/console.h"

namespace muster {

// Waits until the head of a submitted run begins, while its job is queued.

struct JobWait {
  // Called with each new state in words, and with each reason why the engine does not answer.
  std::function<void(const std::string& text)> on_state;
  // Called for each SIGINT, also for one that comes as the wait ends; empty: the signal ends this program. Of
  // AwaitHead.
  std::function<void()> on_interrupt = {};
};

enum class WaitEnd : std::uint8_t {
  kBegun,  // a head began in the directory
  kOver,   // the job ended, and none did: `status` says how
};

struct WaitOutcome {
  WaitEnd end = WaitEnd::kBegun;
  JobStatus status;
};

// Waits until a head begins in the directory of the attempt after `known` attempts. An engine that does not answer is
// asked again, for ever.
WaitOutcome AwaitAttempt(const JobOfRun& job, std::size_t known, const JobWait& wait);
// The same for other jobs than those of runs: until `begun` is true.
WaitOutcome AwaitHead(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait);

// The exit code for a job that ended without a head: 143 (128 + SIGTERM) if it was cancelled, else 3.
int ExitCodeOf(const JobStatus& status);

// Follows a submitted run from the outside: its job while it is queued, its attempts as `muster run` shows a run, to
// the end of the last one.

struct JobFollowing {
  ConsoleOptions console;
  bool json = false;  // the lines of the journals, for programs
  bool interrupt_stops =
      false;  // the first SIGINT stops the run, the second cancels the job; else it ends this program
};

// Returns the exit code of the run: that of its last attempt; of a job that ended without one 143 if it was cancelled,
// else 3. `from`: the attempt to begin with, from 0.
int FollowJob(JobOfRun job, std::size_t from, const JobFollowing& following);

}  // namespace muster
