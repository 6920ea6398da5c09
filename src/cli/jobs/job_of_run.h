// The job of an engine that a run was submitted as: found by the run directory, asked for its state, stopped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/jobs/engine_jobs.h"
#include "muster/result.h"
#include "run/directory/job_record.h"

namespace muster {

struct JobOfRun {
  JobRecord record;
  std::string id;         // empty: not known yet
  std::string first_dir;  // the directory of the first attempt
  EngineJobs jobs;

  std::string Text() const;  // "slurm job 12"
};

// Nothing: the run was not submitted. Kinds of EnginePageOf.
Result<std::optional<JobOfRun>> FindJobOfRun(const std::string& run_dir);

// The directory of the attempt that is the newest of the run's, or will be the first.
std::string NewestAttempt(const JobOfRun& job);
// Whether a head has begun in the directory.
bool HasBegun(const std::string& run_dir);

// The state of the job. Kind "engine": it is not known at the moment.
Result<JobStatus> StateOf(const JobOfRun& job);

// Whether the newest attempt waits to be started: none has begun yet, or the next is queued.
bool IsQueued(const JobOfRun& job, const JobStatus& status);

// How the allocation of an attempt ended, if it did before the run: by what the engine wrote into the job's output,
// else by `status` of a job that is over. The attempt's directory and the chain of attempts record it. Empty: it did
// not.
std::string SettleEnd(const JobOfRun& job, const std::string& run_dir, const std::optional<JobStatus>& status);

// What the job of a run printed before it began, or that it has printed nothing because its nodes do not see the
// directory: for a job that is over; else empty.
std::vector<std::string> OutputBeforeRun(const std::string& run_dir);

// Settles the end of a run whose head is gone, so that its report can name the cause: asks the engine, if the job's
// output does not say.
void SettleIfLost(const std::string& run_dir);

// Requests the head of the job to stop, or at once cancels the job; a queued one is cancelled in either case.
Result<void> StopJob(const JobOfRun& job, bool now);

}  // namespace muster
