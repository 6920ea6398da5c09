#include "sweep/head/trial_preparation.h"

#include <cstddef>
#include <utility>

#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"

namespace muster {
namespace {

constexpr std::size_t kRunIdBytes = 6;
constexpr std::size_t kComparedAtOnce = 16;  // with the plans of the evaluator that stays alive

}  // namespace

int CodeOf(const Diagnostics& problems) { return problems.front().blame == Blame::kMachine ? 3 : 2; }

void TrialPreparation::Advance() {
  Judge();
  while (const auto trial = course_.planning().NextToPlan()) Plan(*trial);
}

TrialPreparation::Prepared TrialPreparation::Take(TrialNumber trial) {
  Prepared prepared{{}, std::move(planned_.extract(trial).mapped())};
  AttemptBegan& began = prepared.began;
  began.trial = trial;
  began.attempt = course_.NextAttempt(trial);
  began.point = sampler_.At(trial);
  began.id = PointId(began.point);
  began.plan = course_.planning().PlanOf(trial);
  began.run_id = RandomHex(kRunIdBytes);
  if (const auto& resumed = prepared.planned.resumed) began.resumed = resumed->from;
  return prepared;
}

void TrialPreparation::Judge() {
  const auto batch = course_.planning().NextToJudge();
  if (!batch) return;
  planner_.Judge(batch->first, batch->second, [this, first = batch->first](Result<PointsJudged> judged) {
    if (!judged) calls_.failed(Sentence(judged.error()), CodeOf(judged.error()));
    if (judged && course_.account().begun() == 0) reasons_.Keep(*judged);
    course_.planning().Judged(judged ? *std::move(judged) : PointsJudged{first, 0, {}});
    calls_.changed();
  });
}

void TrialPreparation::Plan(TrialNumber trial) {
  planner_.Plan(trial, course_.planning().Following(kComparedAtOnce),
                [this, trial](Result<TrialPlanner::Planned> planned) { OnPlanned(trial, std::move(planned)); });
}

void TrialPreparation::OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made) {
  if (!made) {
    const Diagnostic& first = made.error().front();
    if (IsNotOfThePoint(made.error()) || first.kind == "plan_differs") {
      calls_.failed(Sentence(made.error()), CodeOf(made.error()));
      course_.planning().Abandoned(trial);
    } else {
      course_.planning().MarkImpossible(trial, first.message, RecipePlaceText(first.place, recipe_file_));
    }
    return calls_.changed();
  }
  auto planned = course_.planning().Planned(trial, made->plan_id, NeedsOf(made->evaluation.plan));
  if (!planned) {
    calls_.failed(Sentence(planned.error()), 2);
  } else {
    planned_[trial] = *std::move(made);
  }
  calls_.changed();
}

}  // namespace muster
