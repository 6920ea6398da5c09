// Jobs of engines that runs were submitted as: the commands of an engine's page that submit, query, signal and cancel
// jobs; the job of a run, found by the run directory, asked for its state, stopped; and submitted runs that wait in
// the queue, which have a run directory and no head.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine_calls.h"
#include "engine/engine_page.h"
#include "muster/result.h"
#include "run/directory/job_record.h"

namespace muster {

// The jobs of one engine: runs the commands of its page that submit, query, signal and cancel them.

struct EngineCall;

class EngineJobs {
 public:
  explicit EngineJobs(EnginePage page) : page_(std::move(page)) {}

  const EnginePage& page() const { return page_; }

  // Submits the script, which is the file `path` with that text; returns the job's id. Kind "engine".
  Result<std::string> Submit(const std::string& path, const std::string& text) const;
  // The states of all these jobs. The first query of the page is asked about all of them at once, a later one about
  // those that the earlier ones do not know. Kind "engine": the first got no answer, so nothing is known.
  Result<std::map<std::string, JobStatus>> States(std::span<const std::string> jobs) const;
  // Kind "engine": a command failed.
  Result<void> Cancel(std::span<const std::string> jobs) const;
  // "TERM" and others, to the head of each job. Where the engine cannot, the jobs are cancelled.
  Result<void> Signal(std::span<const std::string> jobs, const std::string& signal) const;
  // Returns them to the queue, also the job that this is called in.
  Result<void> Requeue(std::span<const std::string> jobs) const;
  // Of requeued jobs, whose next allocations do not have these hosts then.
  Result<void> Exclude(std::span<const std::string> jobs, std::span<const std::string> hosts) const;

 private:
  Result<void> Call(const std::vector<EngineCall>& calls) const;

  EnginePage page_;
};

// When to ask an engine for states again: soon at first and after a change, then less and less often. The controller of
// an engine is shared by all users.
class JobPolling {
 public:
  static constexpr std::chrono::milliseconds kFirst{1'000};
  static constexpr std::chrono::milliseconds kMax{30'000};

  // How long to wait after an answer; without one longer than before.
  std::chrono::milliseconds After(bool changed, bool answered);

 private:
  std::chrono::milliseconds next_ = kFirst;
};

// Whether a job is over, by states that were asked for one after the other: a job that the engine does not know may
// just not be known yet, or not any more after a restart of the controller, so that has to be said for half a minute.
class OverTest {
 public:
  bool Has(JobState state);

 private:
  std::optional<std::chrono::steady_clock::time_point> vanished_;
};

// "queued: Resources", "running on n[1-4]", "time_limit": a status in words.
std::string StatusText(const JobStatus& status);

// The job of an engine that a run was submitted as: found by the run directory, asked for its state, stopped.

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

// Submitted runs that wait in the queue of their engine: they have a run directory, and no head.

struct QueuedRun {
  std::string name;
  std::string run;  // id of the attempt that will begin or, for a later one, of the last
  std::string run_dir;
  std::string submitted_at;  // UTC
  std::string engine;
  std::string job;  // may be empty
  std::size_t attempt = 1;
  std::string state;   // "queued", "cancelled", …; "unknown" if the engine does not answer
  std::string reason;  // the engine's words, or why it does not answer
};

struct JobsOfRuns {
  std::vector<QueuedRun> queued;
  std::set<std::string> suspended;  // directories of runs whose head is there, and whose job the engine has suspended
};
// Those of these run directories; every engine is asked once about all of its jobs. Jobs that ended in the queue are
// not among them.
JobsOfRuns AskAboutJobs(const std::vector<std::string>& run_dirs);
// The run directories below these folders, each a folder of runs or a run directory, that may be those of queued runs.
std::vector<std::string> MayBeQueued(const std::vector<std::string>& folders);
// The run of this directory, if no head has begun there, also if its job has ended; nothing for other directories.
std::optional<QueuedRun> NotBegun(const std::string& run_dir);

// "queued: Resources"
std::string QueueText(const QueuedRun& run);
// "slurm job 12 is queued: Resources", "slurm job 12 ended: failed: JobLaunchFailure", "slurm job 12 was cancelled"
std::string QueueSentence(const QueuedRun& run);

// As it is printed as JSON, members in the order of their names.
template <class V>
void QueuedParts(V& v, const QueuedRun& run, bool alone) {
  v("attempt", run.attempt), v("engine", run.engine);
  if (alone) v("format", 1);
  v("job", run.job), v("name", run.name), v("outcome", run.state), v("reason", run.reason), v("run", run.run);
  v("run_dir", run.run_dir), v("submitted_at", run.submitted_at);
}
template <class V>
void Parts(V& v, const QueuedRun& run) {
  QueuedParts(v, run, false);
}

}  // namespace muster
