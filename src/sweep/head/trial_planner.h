// What evaluators are asked for a sweep: which points are possible, in one that stays alive, and the plan of a trial,
// in a fresh one. A plan that the two do not agree about is none: then the recipe keeps something between plans, or
// looks at what is not its input.
//
// Nothing is waited for; answers come from the loop.
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
#include "evaluator/evaluator_stem.h"
#include "muster/result.h"
#include "space/sampler.h"
#include "sweep/head/awaited_answer.h"
#include "sweep/head/trial_resumption.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// "gpt.lua:26": where something stands in the recipe, whose sources lie together wherever that is; empty for nowhere.
std::string RecipePlaceText(const Place& place, const std::string& recipe_file);

// Whether it went wrong for want of time or memory, or by the machine: another time it may go well, so nothing is known
// of the point.
bool IsNotOfThePoint(const Diagnostics& problems);

class TrialPlanner {
 public:
  // All but `files` must outlive it. `schema_too`: plans have a context (evaluator/evaluator_stem.h).
  // `resumption`: what the trial's next attempt goes on from, where its checkpoints are in that place.
  using Resumption = std::function<std::optional<TrialResumption>(TrialNumber trial, const CheckpointPlace& place)>;
  TrialPlanner(boost::asio::io_context& io, const EvaluationOptions& evaluation, const SweepDescription& sweep,
               Sampler& sampler, RecipeFiles files, bool schema_too, Resumption resumption);

  // Trials from `first` on, `count` of them or fewer, at least one.
  void Judge(TrialNumber first, std::uint64_t count, std::function<void(Result<PointsJudged>)> done);

  struct Planned {
    Evaluation evaluation;
    std::string plan_id;                       // of the plan without job.resume, the same for all attempts
    std::optional<TrialResumption> resumed{};  // `evaluation` was made with job.resume
  };
  // Kind "plan_differs": the two evaluators made different plans of it. What the one that stays alive says of `next`,
  // trials that are likely to be planned soon, is asked with it.
  void Plan(TrialNumber trial, std::vector<TrialNumber> next, std::function<void(Result<Planned>)> done);

  // Nothing is answered any more.
  void GiveUp();

 private:
  EvaluationOptions OptionsOf(TrialNumber trial);
  void PlanFresh(TrialNumber trial, EvaluationOptions options, std::function<void(Result<Evaluation>)> done);
  // With job.resume, if there is a checkpoint and processes are given it; else `fresh` is done.
  void Resume(TrialNumber trial, Planned fresh, const std::function<void(Result<Planned>)>& done);
  void Compare(TrialNumber trial, Evaluation fresh, const std::function<void(Result<Planned>)>& done);
  // False if it is not known what the plan is to be.
  bool CompareKnown(TrialNumber trial, Planned& made, const std::function<void(Result<Planned>)>& done);
  Diagnostic Differs(TrialNumber trial, const std::string& id, const std::string& other);
  // The evaluator that stays alive does one thing after the other.
  void Ask(std::function<void()> question);
  void Answered();

  boost::asio::io_context& io_;
  const EvaluationOptions& evaluation_;
  const SweepDescription& sweep_;
  Sampler& sampler_;
  RecipeFiles files_;
  Resumption resumption_;
  std::shared_ptr<EvaluatorStem> stem_;
  Evaluator staying_;
  std::deque<std::function<void()>> questions_;
  bool asking_ = false;
  std::unique_ptr<AwaitedAnswer<Judgement>> judging_;
  std::unique_ptr<AwaitedAnswer<std::vector<std::string>>> comparing_;
  std::map<TrialNumber, std::unique_ptr<AwaitedAnswer<Evaluation>>> planning_;
  std::vector<TrialNumber> next_;                // as told last
  std::map<TrialNumber, std::string> expected_;  // plan ids by the evaluator that stays alive
};

}  // namespace muster
