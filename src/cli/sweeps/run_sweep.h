// Runs a sweep, from its description to its end: a new one, or a resumed one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options/batch_call.h"
#include "cli/options/start_settings.h"
#include "cli/sweeps/sweep_options.h"
#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "run/directory/run_directory.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/trial_scheduler.h"

namespace muster {

// Options of muster sweep and muster resume.
void AddSweepStartOptions(CLI::App& app, StartOptions& options);

// A sweep for which an engine is asked for hosts: one job that runs it, or a job for each of its trials.
struct RequestedSweep {
  BatchCall call;
  SweepOptions options;  // with the hosts as they are requested
  Plan plan;             // of a trial
  std::string page;      // --engine
  bool each_trial = false;
};

// A call of muster sweep with parsed arguments.
struct SweepCall {
  const SweepOptions& options;
  DescribedSweep described;
  std::unique_ptr<Evaluator> evaluator;  // that described the sweep
  const StartOptions& start;
  std::optional<RequestedSweep> requested = std::nullopt;
  CheckedStart checked = {};  // `start`
};

// The evaluation of the first possible trial, with everything that it read.
Result<Evaluation> FirstEvaluation(const DescribedSweep& described, Evaluator& evaluator);

// Creates the sweep's directory and runs it, or submits the job that does all of it. With `detach` it runs in the
// background: returns 0 once a trial has begun, or the exit code if the sweep ended before. Returns the exit code.
int StartSweep(SweepCall call);

// How to continue an existing sweep.
struct SweepContinuation {
  std::string sweep;  // SWEEP; empty: the newest
  bool accept = false;
  // Returns the finished trials that are to be retried; may be empty.
  std::function<Result<std::vector<TrialRange>>(const SweepProgress&)> reopen = {};
  SteeringRequest steering = {};        // changes of its limits
  std::vector<std::string> tries = {};  // --try
  StartOptions start;
  RecipeOptions hosts;  // --host and similar options: where it continues; empty: on its hosts
};
// Adds --slots, --add-trials, --max-device-hours, --unskip and --try.
void AddSteeringOptions(CLI::App& app, SteeringRequest& steering, std::vector<std::string>& tries);

// The points of --try for a sweep that has begun, in its folder, by the recipe that is stored there. Prints warnings
// about them. Fails with the recipe's errors about points that are not possible.
Result<std::vector<Point>> ChosenPointsFor(const std::string& folder, const std::vector<std::string>& tries);

// Carries out an edit that a command or a head left when it was killed. The sweep is held.
Result<void> CarryOutHeldEdit(const RunDirectory& sweep);

int ContinueSweep(const SweepContinuation& continuation);

}  // namespace muster
