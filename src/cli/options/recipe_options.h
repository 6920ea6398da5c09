// The common options of commands that take a recipe, and the evaluation with these options; arguments that name a
// recipe, a RUN or a file with a plan; and --resume RUN, with the checkpoint to continue from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "cli/command/command.h"
#include "cli/options/engine_choice.h"
#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"

namespace muster {

// The common options of commands that take a recipe, and the evaluation with these options.

struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> overrides;  // name=text, name:=json, name@=file
  std::vector<std::string> env;        // --env: NAME=VALUE
  std::vector<std::string> metrics;    // --metric: NAME=PATTERN
  std::vector<std::string> unset;
  std::vector<std::string> pins;  // name=text, name:=json
  std::vector<std::string> profiles;
  std::vector<std::string> hosts;  // lists (plan/hosts/host_list.h)
  std::string hostfile;
  std::vector<std::string> exclude;  // lists
  std::uint32_t spares = 0;          // --spares
  EngineOptions engine;
  // Hosts that an engine is to allocate, and what says how many, for a plan outside of an allocation.
  std::vector<SiteHost> requested_hosts;
  std::string requested_by;
  std::optional<PodRequest> pods;  // what provides these hosts, if pods do, …
  std::string job;                 // … and the plan's name, once it is known
  std::string devices;             // --devices; empty: not given
  bool share_devices = false;
  std::string resume;      // --resume: a RUN; empty: not given
  std::string checkpoint;  // --checkpoint
  std::vector<std::string> args;
  // Given facts: skips probing this machine and reading MUSTER_SET, and a recipe must be a file.
  std::optional<Site> believed;
  Without without = WithoutByEnvironment();
};

// Adds RECIPE (or a RUN, for its stored sources), name=value … and AddPlanningOptions. The options must live
// as long as the app. Without `recipe_required`, RECIPE is optional if --resume is given: the caller calls
// SettleResumed.
void AddRecipeOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation, bool recipe_required = true);

// --env, --metric, --profile, --unset, --pin, --devices, --share-devices and AddHostOptions: the caller adds RECIPE and
// name=value.
void AddPlanningOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation);

// --host, --hostfile, --exclude, --spares, --on and --engine only, for commands that have a plan already.
void AddHostOptions(CLI::App& app, RecipeOptions& options);

// Whether --profile, --unset or --pin is given.
bool HasRecipeChanges(const RecipeOptions& options);

// name=text is split at the first '='; the character before it selects the form of the value. Kind "override".
Result<std::vector<Override>> ParseOverrides(const RecipeOptions& options);

// By name, the patterns of --metric. Kind "usage".
Result<std::map<std::string, std::string>> ParseMetrics(const RecipeOptions& options);

// The overrides of derived values. Kind "pin".
Result<std::vector<Override>> ParsePins(const RecipeOptions& options);

// The number of devices of that kind (base/system/host_devices.h, or empty) that muster may use on this machine: at
// most those visible in the caller's environment. 0: unknown. Kind "usage".
Result<std::uint32_t> OwnDevices(std::string_view kind);

// The request for EvaluateRecipe, from the options and this machine's facts. If the recipe is a RUN, its stored request
// with these options on top. Prints nothing.
Result<EvaluationOptions> PrepareEvaluation(const RecipeOptions& options);

// The error for a call that names no recipe; its hint has the words after --, if there are any.
Diagnostic NoRecipe(const RecipeOptions& options);

// A plan, and the request for it.
struct EvaluatedRequest {
  EvaluationOptions request;
  Evaluation evaluation;
};

// EvaluateFrom, and the request to record.
Result<EvaluatedRequest> EvaluateForRun(const RecipeOptions& options);

// Prepares and evaluates. MUSTER_SET has one override per line, which come before those of the options.
Result<Evaluation> EvaluateFrom(const RecipeOptions& options, EvaluationDepth depth = EvaluationDepth::kPlan);

// The plan, with the sources of the variables of `process` ("worker.2") in the provenance of its role.
Result<Evaluation> EvaluateExplaining(const RecipeOptions& options, const std::string& process);

// The plan as if the recipe specified that MindSpore release. Does not repeat the recipe's output.
Result<Evaluation> EvaluateForRelease(const RecipeOptions& options, const std::string& release);

// Resolves an argument of commands that compare plans: a recipe, a RUN, or a file with a plan.

// "name=value" and the other forms; a '/' before the '=' makes it a path.
bool IsOverride(const std::string& word);

struct PlanArgument {
  std::string name;  // as the user wrote it, with its overrides
  Plan plan;
  Diagnostics warnings;
  // How the plan was made; none for a plan file, and for a run whose stored sources do not reproduce its
  // plan.
  std::optional<EvaluationOptions> made_by;
  std::optional<Evaluation> evaluation;
  std::string why_not;  // the reason, in one line, if there is no plan
  std::map<std::string, std::string> sources;
};

// `options` has the other options: hosts, devices and so on. A RUN without overrides is the plan that was run; with
// overrides, its stored sources are evaluated. Kinds of EvaluateRecipe, "plan_json", "run", and "usage" for overrides
// of a plan file.
Result<PlanArgument> ResolvePlanArgument(const std::string& word, const std::vector<std::string>& overrides,
                                         const RecipeOptions& options);

// --resume RUN: finds the run to resume, and its checkpoint.

struct Resumption {
  std::string run;         // id of the run to resume
  std::string checkpoint;  // absolute path
};

// With --resume, RECIPE may be omitted: the stored one is used, and the first positional argument is an override.
void SettleResumed(RecipeOptions& options);

// The folder of the run that --resume names. Kinds "run", and "resume" if it is still running.
Result<std::string> ResumedRun(const RecipeOptions& options);

// The newest complete checkpoint of that run, at the location in its plan; if it wrote none, the one that it resumed
// from itself. `--checkpoint` overrides this. Kind "resume".
Result<Resumption> FindResumption(const RecipeOptions& options);

// The checkpoint that the run itself resumed from, if any. Kind "resume" if that is gone.
Result<std::optional<Resumption>> ResumptionOfRun(const std::string& run_dir);

// Kind "resume" for a plan that passes no checkpoint to its processes: they would start from scratch.
Result<void> CheckUsesCheckpoint(const Plan& plan);

}  // namespace muster
