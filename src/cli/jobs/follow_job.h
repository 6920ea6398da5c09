// Follows a submitted run from the outside: its job while it is queued, its attempts as `muster run` shows a run, to
// the end of the last one.
#pragma once

#include <string>

#include "cli/jobs/job_of_run.h"
#include "run/console/console.h"

namespace muster {

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
