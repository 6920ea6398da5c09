// Requests to evaluators for a sweep: which points are possible, in an evaluator that stays alive, and the plan of a
// trial, in a fresh one. If the two plans differ there is no plan: then the recipe keeps state between plans, or
// depends on a hidden input.
//
// Never blocks; answers arrive through the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "evaluator/evaluator.h"
#include "evaluator/evaluator_process.h"
#include "muster/result.h"
#include "space/sweep_description.h"
#include "sweep/head/awaited_answer.h"
#include "sweep/head/trial_resumption.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// "gpt.lua:26": a place in the recipe, whose sources are in one folder, wherever that is; empty for no place.
std::string RecipePlaceText(const Place& place, const std::string& recipe_file);

// Whether the failure was caused by the machine or by a limit of time or memory: a retry may succeed, so nothing is
// known about the point.
bool IsNotOfThePoint(const Diagnostics& problems);

class TrialPlanner {
 public:
  // All but `files` must outlive it. `schema_too`: plans have a context (evaluator/evaluator_fork_server.h).
  // `resumption`: returns what the trial's next attempt resumes, if its checkpoints are in that place.
  using Resumption = std::function<std::optional<TrialResumption>(TrialNumber trial, const CheckpointPlace& place)>;
  TrialPlanner(boost::asio::io_context& io, const EvaluationOptions& evaluation, const SweepDescription& sweep,
               Sampler& sampler, RecipeFiles files, bool schema_too, Resumption resumption);

  // Judges up to `count` trials from `first` on, at least one.
  void Judge(TrialNumber first, std::uint64_t count, std::function<void(Result<PointsJudged>)> done);

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

 private:
  EvaluationOptions OptionsOf(TrialNumber trial);
  void PlanFresh(TrialNumber trial, EvaluationOptions options, std::function<void(Result<Evaluation>)> done);
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
  Sampler& sampler_;
  RecipeFiles files_;
  Resumption resumption_;
  std::shared_ptr<EvaluatorForkServer> fork_server_;
  Evaluator staying_;
  std::deque<std::function<void()>> questions_;
  bool asking_ = false;
  std::unique_ptr<AwaitedAnswer<Judgement>> judging_;
  std::unique_ptr<AwaitedAnswer<std::vector<std::string>>> comparing_;
  std::map<TrialNumber, std::unique_ptr<AwaitedAnswer<Evaluation>>> planning_;
  std::vector<TrialNumber> next_;                // from the latest request
  std::map<TrialNumber, std::string> expected_;  // plan ids by the evaluator that stays alive
};

}  // namespace muster
