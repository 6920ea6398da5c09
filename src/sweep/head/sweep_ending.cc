#include "sweep/head/sweep_ending.h"

#include "muster/exit_code.h"

namespace muster {

SweepOutcome OutcomeOf(const TrialScheduler& course, const ImpossibleReasons& reasons, const std::string& why,
                       int exit_code) {
  const SweepProgress& account = course.account();
  SweepOutcome outcome;
  outcome.complete = course.complete();
  const std::string hopeless = course.Hopeless();
  outcome.exit_code = exit_code;
  outcome.why = why;
  if (outcome.why.empty() && outcome.complete) outcome.why = "all trials have ended";
  if (outcome.why.empty() && !hopeless.empty()) {
    outcome.why = hopeless;
    outcome.exit_code = kExitMachine;
  }
  if (outcome.why.empty()) outcome.why = "--max-trials reached";
  if (outcome.exit_code == 0 && account.failed() > 0) outcome.exit_code = kExitTrialsFailed;
  if (outcome.complete && account.trials() == 0) {
    outcome.why = "there is no trial in this part";
  } else if (outcome.exit_code == 0 && outcome.complete && account.begun() == 0) {
    outcome.why = reasons.Text();
    outcome.exit_code = kExitRecipe;
  }
  return outcome;
}

}  // namespace muster
