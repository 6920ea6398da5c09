// Running a sweep, from what was said about it to its end: a new one, and one that is gone on with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/sweeps/sweep_options.h"
#include "evaluator/evaluator.h"
#include "run/directory/run_directory.h"
#include "sweep/record/sweep_account.h"

namespace muster {

// How a sweep is shown and reached; not part of what it is.
struct SweepStartOptions {
  bool quiet = false;
  bool no_progress = false;
  bool detach = false;
  std::string agent;
  std::vector<std::string> words;  // of the call, for who goes on with it
};

void AddSweepStartOptions(CLI::App& app, SweepStartOptions& options);

// A call of muster sweep whose words have been read.
struct SweepCall {
  const SweepOptions& options;
  DescribedSweep described;
  std::unique_ptr<Evaluator> evaluator;  // that described it
  const SweepStartOptions& start;
};

// Makes the sweep's directory and runs it, with `detach` in the background: then it returns once a trial has begun,
// with 0, or what the sweep exited with before. Gives the exit code.
int RunSweep(SweepCall call);

// What is done with a sweep that is there.
struct SweepContinuation {
  std::string sweep;  // SWEEP; empty: the newest
  bool accept = false;
  // Of trials that are over, those that are to be tried again; may be empty.
  std::function<Result<std::vector<TrialRange>>(const SweepAccount&)> reopen = {};
  SweepStartOptions start;
  RecipeOptions hosts;  // --host and its like: where it goes on; nothing: where it began
};
int ContinueSweep(const SweepContinuation& continuation);

}  // namespace muster
