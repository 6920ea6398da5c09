// Requests to evaluators for a sweep: which points are possible, and the plans of trials, ahead of their start and
// from the checkpoint of the attempt before.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fcntl.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "evaluator/evaluator.h"
#include "evaluator/evaluator_process.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/record/sweep_status.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// Waits in a loop for an answer of an evaluator.

// Calls `done` once, from the loop, with the result. Destroying it cancels the wait.
template <class T>
class AwaitedAnswer {
 public:
  using Done = std::function<void(Result<T>)>;

  AwaitedAnswer(boost::asio::io_context& io, Pending<T> pending, Done done)
      : state_(std::make_shared<State>(io, std::move(pending), std::move(done))) {
    state_->Await();
  }
  AwaitedAnswer(const AwaitedAnswer&) = delete;
  AwaitedAnswer& operator=(const AwaitedAnswer&) = delete;
  ~AwaitedAnswer() { state_->End(); }

 private:
  struct State : std::enable_shared_from_this<State> {
    State(boost::asio::io_context& io, Pending<T> p, Done d)
        : pending(std::move(p)), done(std::move(d)), readable(io), deadline(io) {}

    void Await() {
      boost::system::error_code refused;
      // Duplicated, since the conversation owns the descriptor and may outlive this or end earlier.
      UniqueFd own(::fcntl(pending.fd(), F_DUPFD_CLOEXEC, 0));
      if (const int error = errno; !own) return Refuse(error);
      readable.assign(own.get(), refused);
      if (refused) return Refuse(refused.value());
      static_cast<void>(own.release());
      const std::uint64_t now = MonotonicNowNs();
      const std::uint64_t until = pending.deadline_ns();
      deadline.expires_after(std::chrono::nanoseconds(until > now ? until - now : 0));
      deadline.async_wait([self = this->shared_from_this()](const boost::system::error_code& error) {
        if (!error) self->Continue();
      });
      AwaitReadable();
    }
    void Refuse(int error) {
      boost::asio::post(deadline.get_executor(), [self = this->shared_from_this(), error] {
        const Done tell = std::exchange(self->done, nullptr);
        if (tell) tell(Fail(SystemError("evaluator", "an evaluator's answer cannot be waited for", error)));
      });
    }
    void AwaitReadable() {
      readable.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                          [self = this->shared_from_this()](const boost::system::error_code& error) {
                            if (!error) self->Continue();
                          });
    }
    void Continue() {
      if (!done) return;
      auto result = pending.Continue();
      if (!result) return AwaitReadable();
      const Done tell = std::exchange(done, nullptr);
      End();
      tell(*std::move(result));
    }
    void End() {
      done = nullptr;
      boost::system::error_code ignored;
      readable.close(ignored);
      deadline.cancel();
    }

    Pending<T> pending;
    Done done;
    boost::asio::posix::stream_descriptor readable;
    boost::asio::steady_timer deadline;
  };

  std::shared_ptr<State> state_;
};

// Finds the checkpoint from which the next attempt of a trial resumes.
//
// Reads the run directories of its earlier attempts. The plan has the location of checkpoints below them.

struct TrialResumption {
  std::string run;  // id of the last attempt's run, which is resumed
  ResumedFrom from;
};

// The newest complete checkpoint of the trial's last attempt; if it wrote none, the one that it resumed from itself, if
// that still exists. Returns nothing if the trial must start from scratch: at its first attempt, after `muster retry`,
// after it diverged, or without a checkpoint. Only folders below the run directory count: any other folder could hold
// checkpoints of other trials.
std::optional<TrialResumption> ResumptionOfTrial(const std::string& sweep_dir, const SweepProgress& progress,
                                                 TrialNumber trial, const CheckpointPlace& place);

// Requests to evaluators for a sweep: which points are possible, in an evaluator that stays alive, and the plan of a
// trial, in a fresh one. If the two plans differ there is no plan: then the recipe keeps state between plans, or
// depends on a hidden input.
//
// Never blocks; answers arrive through the loop.

// "gpt.lua:26": a place in the recipe, whose sources are in one folder, wherever that is; empty for no place.
std::string RecipePlaceText(const Place& place, const std::string& recipe_file);

// Whether the failure was caused by the machine or by a limit of time or memory: a retry may succeed, so nothing is
// known about the point.
bool IsNotOfThePoint(const Diagnostics& problems);

// Whether trials can be promoted: kind "promote" if the plan keeps no checkpoints in its run directory, or if the plan
// of a trial that continues from a run (EvaluationOptions::resumed, of kAnyRun) gives no process a checkpoint.
inline constexpr const char* kAnyRun = "000000000000";
Result<void> CheckKeepsCheckpoints(const Plan& plan);
Result<void> CheckTakesCheckpoint(const Plan& resumed);

class TrialPlanner {
 public:
  // All but `files` must outlive it. `schema_too`: plans have a context (evaluator/evaluator_process.h).
  // `resumption`: returns what the trial's next attempt resumes, if its checkpoints are in that place.
  using Resumption = std::function<std::optional<TrialResumption>(TrialNumber trial, const CheckpointPlace& place)>;
  TrialPlanner(boost::asio::io_context& io, const EvaluationOptions& evaluation, const SweepDescription& sweep,
               TrialPoints& points, RecipeFiles files, bool schema_too, Resumption resumption);

  // Judges the points, at least the first one.
  void Judge(TrialPlanning::ToJudge batch, std::function<void(Result<PointsJudged>)> done);

  struct Planned {
    Evaluation evaluation;
    std::string plan_id;                       // of the plan without job.resume, the same for all attempts
    std::optional<TrialResumption> resumed{};  // `evaluation` was made with job.resume
  };
  // Kind "plan_differs": the two evaluators made different plans. `next` are trials that are likely to be planned soon:
  // the evaluator that stays alive plans them in the same request.
  void Plan(TrialNumber trial, std::vector<TrialNumber> next, std::function<void(Result<Planned>)> done);

  // No further answers.
  void GiveUp();
  // The evaluation and the description were edited: no answer to an earlier request follows. `files`: as they are now.
  void Edited(RecipeFiles files);

 private:
  EvaluationOptions OptionsOf(TrialNumber trial);
  void PlanFresh(TrialNumber trial, EvaluationOptions options, std::function<void(Result<Evaluation>)> done);
  // Kind "promote" if a trial of the recipe could not continue from a checkpoint; else `fresh` is the result.
  void CheckFirst(TrialNumber trial, Planned fresh, const std::function<void(Result<Planned>)>& done);
  // Plans with job.resume, if there is a checkpoint and processes use it; otherwise `fresh` is the result.
  void Resume(TrialNumber trial, Planned fresh, const std::function<void(Result<Planned>)>& done);
  void Compare(TrialNumber trial, Evaluation fresh, const std::function<void(Result<Planned>)>& done);
  // False if the expected plan is not known yet.
  bool CompareKnown(TrialNumber trial, Planned& made, const std::function<void(Result<Planned>)>& done);
  Diagnostic Differs(TrialNumber trial, const std::string& id, const std::string& other);
  // Queues the request: the evaluator that stays alive handles one at a time.
  void Ask(std::function<void()> question);
  void Answered();

  boost::asio::io_context& io_;
  const EvaluationOptions& evaluation_;
  const SweepDescription& sweep_;
  TrialPoints& points_;
  RecipeFiles files_;
  Resumption resumption_;
  bool schema_too_;
  std::shared_ptr<EvaluatorForkServer> fork_server_;
  std::optional<Evaluator> staying_;  // always there
  std::deque<std::function<void()>> questions_;
  bool asking_ = false;
  bool checked_ = false;  // that trials can continue from checkpoints, if they are to be promoted
  std::unique_ptr<AwaitedAnswer<Judgement>> judging_;
  std::unique_ptr<AwaitedAnswer<std::vector<std::string>>> comparing_;
  std::map<TrialNumber, std::unique_ptr<AwaitedAnswer<Evaluation>>> planning_;
  std::vector<TrialNumber> next_;                // from the latest request
  std::map<TrialNumber, std::string> expected_;  // plan ids by the evaluator that stays alive
};

// Judges the points of a sweep and plans its trials ahead of their start, as the scheduler asks for it.

// The exit code for these problems: 3 if they are the machine's, else 2.
int CodeOf(const Diagnostics& problems);

class TrialPreparation {
 public:
  struct Calls {
    std::function<void()> changed;                                      // something may be possible to start
    std::function<void(const std::string& why, int exit_code)> failed;  // the sweep cannot go on
  };

  // The first three must outlive it. `recipe_file` is for places in messages.
  TrialPreparation(TrialPlanner& planner, TrialScheduler& scheduler, TrialPoints& points, std::string recipe_file,
                   Calls calls)
      : planner_(planner),
        scheduler_(scheduler),
        points_(points),
        recipe_file_(std::move(recipe_file)),
        calls_(std::move(calls)) {}

  // Begins what can be done now.
  void Advance();
  struct Prepared {
    AttemptBegan began;  // without its hosts
    TrialPlanner::Planned planned;
  };
  // The next attempt of a trial that the scheduler starts.
  Prepared Take(TrialNumber trial);
  // The sweep was edited: what is prepared is forgotten.
  void Edited();
  // Of points judged before any trial began.
  const ImpossibleReasons& reasons() const { return reasons_; }

 private:
  void Judge();
  void Plan(TrialNumber trial);
  void OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made);

  TrialPlanner& planner_;
  TrialScheduler& scheduler_;
  TrialPoints& points_;
  const std::string recipe_file_;
  const Calls calls_;
  std::map<TrialNumber, TrialPlanner::Planned> planned_;
  std::uint64_t edits_ = 0;  // answers to requests from before the last one are not used
  ImpossibleReasons reasons_;
};

}  // namespace muster
