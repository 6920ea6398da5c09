// The head of a sweep: executes the decisions of its scheduler, from its inputs to its end, and answers requests
// about it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"
#include "run/session/run_request.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "transport/transport.h"

namespace muster {

// The head of a sweep: executes the decisions of its scheduler (trial_scheduler.h). Judges points in an evaluator that
// stays alive, plans each trial in a fresh one, runs it like any other run below standing agents, reads its reports,
// and records everything before doing it.
//
// One loop, one thread; no polling, and no blocking wait for a recipe's evaluation. Independent of Lua and
// fork.

class TrialAllocator;  // sweep/head/live_trial.h

struct SweepRequest {
  SweepDescription description;
  // The sweep's folder, absolute, held by the caller: recipe/ has the sources; journal.jsonl may exist.
  std::string folder;
  int folder_fd = -1;
  // All fields except `trials` and those about this process; `accepted`: whether the sweep may be resumed with a
  // changed recipe.
  SweepBegan began;

  // Returns the finished trials that are to be retried; may be empty.
  std::function<Result<std::vector<TrialRange>>(const SweepProgress&)> reopen;
  SteeringRequest steering = {};  // changes of its limits from this head on

  // Returns the following, and SweepBegan::recipe, as the folder has them now: after its recipe was replaced by an
  // edit.
  struct Stored {
    EvaluationOptions evaluation;
    std::string recipe;
  };
  std::function<Result<Stored>()> stored = {};
  // For the sources in the folder. Points are added as overrides.
  EvaluationOptions evaluation;
  bool has_context = false;  // the first plan has one (Plan::mindspore)
  // The record in a run directory of how its plan was made (inputs.json).
  std::function<Value(const EvaluationOptions&)> evaluation_record;

  // Options common to all its runs; the sweep sets plan, folder, hosts and console.
  RunRequest run;
  // Where trials run; none: this machine. `devices`: for hosts without a number of their own.
  std::vector<SiteHost> hosts;
  std::uint32_t devices = 0;
  // Instead, each trial gets hosts of its own, of `devices` devices; null: the trials share `hosts`. Outlives the
  // sweep.
  TrialAllocator* allocator = nullptr;

  std::vector<Notification> notifications = {};  // of events of the sweep

  // Called whenever a trial has begun, or an engine has accepted the request for its hosts.
  std::function<void()> on_begun = {};

  // Show errors only; otherwise a terminal shows rows with the progress.
  bool quiet = false;
  bool progress = false;
  int err = 2;
};

struct SweepOutcome {
  // As in docs/commands.md: 0, 3 for the machine, 4 if trials failed, 128+n for signal n.
  int exit_code = 0;
  bool complete = false;
  std::string why;
};

// Fails, with nothing started, if the sweep cannot begin or resume: its journal cannot be read or written, the
// description or the recipe is invalid or changed (kind "recipe_changed"), or `reopen` fails. Later failures are in the
// outcome and in the journal.
// `transport` leads to `hosts`, or to this machine; with an allocator nothing is connected through it.
Result<SweepOutcome> RunSweep(SweepRequest request, Transport& transport);

}  // namespace muster
