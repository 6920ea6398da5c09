// The head of a sweep: makes true what its course decides (sweep_course.h). Judges points in an evaluator that stays
// alive, plans each trial in a fresh one, runs it as any other run below agents that stand, reads its reports, and
// writes everything down first.
//
// One loop, one thread; nothing is polled, and nothing that a recipe computes is waited for. Knows neither Lua nor
// fork.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"
#include "run/session/run_request.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_account.h"
#include "sweep/record/sweep_events.h"
#include "transport/channel.h"
#include "transport/transport.h"

namespace muster {

struct SweepRequest {
  SweepDescription description;
  // The sweep's folder, absolute, held by the caller: recipe/ has the sources, journal.jsonl may be there.
  std::string folder;
  int folder_fd = -1;
  // But for `trials`, and what is known of this process; `accepted`: whether another recipe than the one before may be
  // gone on with.
  SweepBegan began;

  // Of trials that are over, those that are to be tried again; may be empty.
  std::function<Result<std::vector<TrialRange>>(const SweepAccount&)> reopen;

  // Of the sources in the folder. Points are added as overrides.
  EvaluationOptions evaluation;
  bool has_context = false;  // the first plan had one (Plan::mindspore)
  // What a run directory keeps of how its plan was made (inputs.json).
  std::function<Value(const EvaluationOptions&)> evaluation_record;

  // What all its runs have in common; plan, folder, hosts and console are the sweep's affair.
  RunRequest run;
  // Where they run; none: this machine. `devices`: of hosts without a number of their own.
  std::vector<SiteHost> hosts;
  std::uint32_t devices = 0;

  // Called whenever a trial has begun.
  std::function<void()> on_begun = {};

  // Nothing is shown but what went wrong; on a terminal, rows tell how far it is.
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

// Fails, with nothing started, if the sweep cannot begin or go on at all: its journal cannot be read or written, the
// description or the recipe is wrong or another one (kind "recipe_changed"), or `reopen` fails. Everything later is an
// outcome, and in the journal.
Result<SweepOutcome> RunSweep(const SweepRequest& request, Transport& transport);

}  // namespace muster
