// muster run --on ENGINE: outside of an allocation the run directory, the job that runs the plan in it, and following
// it; inside, the head of the submitted run: which attempt of the run it is, from where that continues, and whether
// another one follows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/jobs/job_of_run.h"
#include "cli/launch/run_preparation.h"
#include "cli/options/batch_call.h"
#include "muster/result.h"
#include "run/console/console.h"
#include "run/session/run_request.h"

namespace muster {

// muster run --on ENGINE outside of an allocation: makes the run directory, submits the job that runs the plan in it,
// and follows it.

// `checked`: `options`. Returns the exit code.
int SubmitRun(const RunOptions& options, const CheckedStart& checked);

// The head of a submitted run, inside the allocation of its job: which attempt of the run it is, from where that
// continues, and whether another one follows.
class SubmittedRun {
 public:
  // `run_dir`: as the run was submitted; `job`: the id of this allocation. If earlier attempts began, records why the
  // last one's allocation ended. Kind "requeue": no attempt may follow that.
  static Result<std::unique_ptr<SubmittedRun>> Open(const std::string& run_dir, const std::string& job);

  bool is_first() const { return attempts_.empty(); }

  // The plan: of the first attempt as it was submitted, of a later one with the newest checkpoint of those before, if
  // there is one. `options` say where the run is now.
  Result<void> Fill(const RecipeOptions& options, RunRequest& request);
  // Sets the request's directory and what records this attempt. This object must outlive the run.
  void Prepare(RunRequest& request);
  // After the run: requeues the job if its allocation ends (its time limit, a preemption with a grace time), has lost a
  // node, which the engine may notice later or not at all, or if the run failed and the verdict, on the failures of all
  // attempts, is not to stop.
  void Ended(const RunOutcome& outcome);

 private:
  SubmittedRun(JobOfRun job, std::vector<JobAttempt> attempts) : job_(std::move(job)), attempts_(std::move(attempts)) {}

  Result<void> SettleLast();
  std::string EndOf(const RunOutcome& outcome) const;
  bool FollowsVerdict();
  void Exclude() const;
  bool MayFollow(const std::string& end, std::size_t attempts) const;
  void Record(const std::string& run_id, const std::string& run_dir);

  JobOfRun job_;
  std::vector<JobAttempt> attempts_;  // those before; from Record on with this one
  bool announced_ = false;
};

}  // namespace muster
