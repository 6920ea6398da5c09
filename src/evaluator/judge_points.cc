// A sweep's requests to an evaluator: its description, which of its points can be planned, and the ids of their plans.
#include <utility>

#include "evaluator/evaluator.h"

namespace muster {

Result<SweepDescription> Evaluator::DescribeSweep(const EvaluationOptions& options, std::string* recipe_name) {
  EvaluationOptions asked = options;
  asked.describe_sweep = true;
  asked.depth = EvaluationDepth::kParameters;
  auto evaluation = Evaluate(asked);
  if (!evaluation) return Fail(evaluation.error());
  if (recipe_name != nullptr) *recipe_name = std::move(evaluation->name);
  if (!evaluation->sweep) {
    return Fail(Error("evaluator", {options.recipe_file, 0}, "the evaluator described no sweep"));
  }
  return *std::move(evaluation->sweep);
}

namespace {

EvaluationOptions OptionsOf(const EvaluationOptions& options, const SweepDescription& sweep,
                            const JudgeRequest& request) {
  EvaluationOptions asked = options;
  asked.depth = EvaluationDepth::kJob;
  asked.judge = JudgeTask{sweep, request};
  return asked;
}

Result<Judgement> JudgementOf(Result<Evaluation> evaluation, const std::string& recipe_file, std::uint64_t most) {
  if (!evaluation) return Fail(evaluation.error());
  if (!evaluation->judgement || evaluation->judgement->points > most) {
    return Fail(Error("evaluator", {recipe_file, 0}, "the evaluator judged no points"));
  }
  return *std::move(evaluation->judgement);
}

}  // namespace

Result<Judgement> Evaluator::Judge(const EvaluationOptions& options, const SweepDescription& sweep,
                                   const JudgeRequest& request) {
  return JudgementOf(Evaluate(OptionsOf(options, sweep, request)), options.recipe_file, request.count);
}

Result<PendingJudgement> Evaluator::BeginJudging(const EvaluationOptions& options, const SweepDescription& sweep,
                                                 const JudgeRequest& request) {
  auto pending = Begin(OptionsOf(options, sweep, request));
  if (!pending) return Fail(pending.error());
  return (*std::move(pending))
      .Then<Judgement>([file = options.recipe_file, most = request.count](Result<Evaluation> evaluation) {
        return JudgementOf(std::move(evaluation), file, most);
      });
}

Result<PendingPlanIds> Evaluator::BeginPlanIds(EvaluationOptions options, std::vector<Point> points) {
  const std::size_t most = points.size();
  const Place recipe{options.recipe_file, 0};
  options.points = std::move(points);
  auto pending = Begin(std::move(options));
  if (!pending) return Fail(pending.error());
  return (*std::move(pending))
      .Then<std::vector<std::string>>(
          [recipe, most](Result<Evaluation> evaluation) -> Result<std::vector<std::string>> {
            if (!evaluation) return Fail(std::move(evaluation.error()));
            if (evaluation->plan_ids.empty() || evaluation->plan_ids.size() > most) {
              return Fail(Error("evaluator", recipe, "the evaluator made no plans"));
            }
            return std::move(evaluation->plan_ids);
          });
}

}  // namespace muster
