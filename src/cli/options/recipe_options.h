// The options shared by all commands that take a recipe, and the evaluation they lead to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "cli/command/command.h"
#include "evaluator/evaluator.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"

namespace muster {

struct RecipeOptions {
  std::string recipe;
  std::vector<std::string> overrides;  // name=text, name:=json, name@=file
  std::vector<std::string> env;        // --env: NAME=VALUE, entries of the recipe's parameter env
  std::vector<std::string> unset;
  std::vector<std::string> pins;  // name=text, name:=json
  std::vector<std::string> profiles;
  std::vector<std::string> hosts;  // lists (plan/hosts/host_list.h)
  std::string hostfile;
  std::vector<std::string> exclude;  // lists
  std::uint32_t spares = 0;          // --spares
  std::string devices;               // --devices; empty: not given
  bool share_devices = false;
  std::string resume;      // --resume: a RUN (cli/options/resume.h); empty: not given
  std::string checkpoint;  // --checkpoint
  std::vector<std::string> args;
  // Facts that are believed: this machine is not looked at then, nor MUSTER_SET, and a recipe is a file.
  std::optional<Site> believed;
  Without without = WithoutByEnvironment();
};

// Adds RECIPE (or a RUN, whose stored sources are meant), name=value …, --env and AddPlanningOptions. The options must
// live as long as the app. Without `recipe_required`, RECIPE may be left out beside --resume: the caller calls
// SettleResumed.
void AddRecipeOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation, bool recipe_required = true);

// --profile, --unset, --pin, --devices, --share-devices and AddHostOptions: RECIPE and name=value are the caller's.
void AddPlanningOptions(CLI::App& app, RecipeOptions& options, const Invocation& invocation);

// --host, --hostfile, --exclude and --spares alone, for what has its plan already.
void AddHostOptions(CLI::App& app, RecipeOptions& options);

// Whether a profile, --unset or --pin says something about a recipe.
bool HasRecipeChanges(const RecipeOptions& options);

// name=text is split at the first '='; the character before it says how the rest is read. Kind "override".
Result<std::vector<Override>> ParseOverrides(const RecipeOptions& options);

// The derived values that are forced. Kind "pin".
Result<std::vector<Override>> ParsePins(const RecipeOptions& options);

// Whether the command line names hosts.
bool NamesHosts(const RecipeOptions& options);
// Refuses --exclude and --spares where the command line names no list for them, and `whose` ("the plan") has hosts that
// stay as they are. Kind "usage".
Result<void> CheckListIsNamed(const RecipeOptions& options, const std::string& whose);
// The hosts that the command line names, else those of the site, in order, without spares; none if neither names any.
// Kinds "hosts", "usage" and those of GetSite.
Result<std::vector<SiteHost>> NamedHosts(const RecipeOptions& options);
// The last of those that it names, if some are to be spares. Each has a number of devices: the one that the plan has
// for hosts without one of their own. Fails if one could take the place of no host of the plan.
Result<std::vector<SiteHost>> SpareHosts(const RecipeOptions& options, const Plan& plan);

// How many devices of that kind (base/system/host_devices.h, or empty) this machine has for muster: no more than the
// caller's environment leaves visible. 0: nothing is known. Kind "usage".
Result<std::uint32_t> OwnDevices(std::string_view kind);

// What EvaluateRecipe is to be asked: the words read, this machine looked at. Where the recipe is a RUN, what it was
// asked then, with the words added. Nothing is shown.
Result<EvaluationOptions> PrepareEvaluation(const RecipeOptions& options);

// Parses the overrides, MUSTER_SET (one override per line) before them, and evaluates.
Result<Evaluation> EvaluateFrom(const RecipeOptions& options, EvaluationDepth depth = EvaluationDepth::kPlan);

// The plan, with the sources of the variables of `process` ("worker.2") in the provenance of its role.
Result<Evaluation> EvaluateExplaining(const RecipeOptions& options, const std::string& process);

// The plan as if the recipe named that MindSpore release. What the recipe prints is not shown again.
Result<Evaluation> EvaluateForRelease(const RecipeOptions& options, const std::string& release);

}  // namespace muster
