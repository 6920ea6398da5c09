// The common options of commands that take a recipe, and the evaluation with these options.
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
#include "cli/options/requested_hosts.h"
#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"

namespace muster {

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
  std::string resume;      // --resume: a RUN (cli/options/resume.h); empty: not given
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

}  // namespace muster
