#include "cli/launch/plan_source.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/stored_recipe.h"
#include "cli/options/caller_environment.h"
#include "cli/options/named_hosts.h"
#include "cli/options/resume.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "run/start/rehearsal_plan.h"

namespace muster {
namespace {

Result<Plan> ReadPlan(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  if (!stream || !std::filesystem::is_regular_file(file, error)) {
    return Fail(
        Error("plan_file", {file, 0}, "the plan cannot be read", "make one with: muster plan RECIPE --json > FILE"));
  }
  return PlanFromJson(std::string(std::istreambuf_iterator<char>(stream), {}));
}

// Sets the checkpoint to resume from, if any.
Result<void> TakeResumption(Result<std::optional<Resumption>> found, RunRequest& request) {
  if (!found) return Fail(found.error());
  if (!*found) return {};
  request.checkpoint = (*found)->checkpoint;
  request.resumed = (*found)->run;
  return {};
}

// The plan of an earlier run with its origin; only its binding is new.
Result<void> TakePlanOfRun(const PlanSource& options, RunRequest& request) {
  const auto run_dir = FindRun(options.replayed, DirectoryUse::kExecute);
  if (!run_dir) return Fail(run_dir.error());
  auto id = IdOfRun(*run_dir);
  if (!id) return Fail(id.error());
  if (const auto run = SummarizeRun(*run_dir, false); run && run->rehearsal) {
    return Fail(Error("run", {}, "run " + *id + " is a rehearsal: its plan starts stubs",
                      "muster run " + *id + " runs its recipe, muster rehearse " + *id + " rehearses it again"));
  }
  auto stored = PlanOfRun(*run_dir);
  if (!stored) return Fail(stored.error());
  request.plan = std::move(stored->plan);
  request.inputs = std::move(stored->inputs);
  request.evaluation = std::move(stored->evaluation);
  request.sources = std::move(stored->sources);
  request.parent = *std::move(id);
  if (auto taken = TakeResumption(ResumptionOfRun(*run_dir), request); !taken) return taken;
  return NameHosts(options.recipe, request.plan);
}

}  // namespace

Result<void> NameHosts(const RecipeOptions& options, Plan& plan) {
  const auto engine = HostsFromEngine(options);
  if (!engine) return Fail(engine.error());
  if (!NamesHosts(options) && !*engine) return CheckListIsNamed(options, "the plan");
  auto named = NamedHosts(options);
  if (!named) return Fail(named.error());
  if (named->empty()) return {};
  if (*engine && !NamesHosts(options) && AreAmong(plan, *named)) return {};
  if (named->size() < plan.hosts.size()) {
    return Fail(Error("hosts", {},
                      "the plan has " + std::to_string(plan.hosts.size()) + " hosts, and " +
                          (NamesHosts(options) ? "the command line names " : **engine + " has ") +
                          std::to_string(named->size())));
  }
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) plan.hosts[i].name = (*named)[i].name;
  return {};
}

Result<void> FillPlan(const PlanSource& options, RunRequest& request) {
  if (options.replay) return TakePlanOfRun(options, request);
  if (!options.plan_file.empty()) {
    if (!options.recipe.recipe.empty()) {
      return Fail(
          Error("usage", {}, "--plan and a recipe are given", "give one of them: a plan already has its parameters"));
    }
    if (!options.recipe.devices.empty() || options.recipe.share_devices) {
      return Fail(Error("usage", {}, "--plan and --devices or --share-devices are given",
                        "the plan already selects its devices: use --devices with muster plan"));
    }
    if (HasRecipeChanges(options.recipe)) {
      return Fail(Error("usage", {}, "--plan and --profile, --unset or --pin are given",
                        "a plan already has its values: give them to muster plan"));
    }
    auto plan = ReadPlan(options.plan_file);
    if (!plan) return Fail(plan.error());
    if (IsRehearsalPlan(*plan)) {
      return Fail(Error("plan_file", {options.plan_file, 0}, "this is the plan of a rehearsal: it starts stubs",
                        "name the rehearsal itself instead of a recipe, or make a plan with: muster plan RECIPE "
                        "--json > FILE"));
    }
    request.plan = *std::move(plan);
    if (!options.recipe.resume.empty()) {
      if (auto used = CheckUsesCheckpoint(request.plan); !used) return used;
      auto found = FindResumption(options.recipe);
      if (!found) return Fail(found.error());
      request.checkpoint = found->checkpoint;
      request.resumed = request.parent = found->run;
    }
    return NameHosts(options.recipe, request.plan);
  }
  if (options.recipe.recipe.empty()) return Fail(NoRecipe(options.recipe));
  auto evaluated = EvaluateForRun(options.recipe);
  if (!evaluated) return Fail(evaluated.error());
  auto& [made_by, evaluation] = *evaluated;
  if (auto refused = RefusedByRun(evaluation.warnings); !refused.empty()) return Fail(std::move(refused));
  PrintDiagnostics(evaluation.warnings);
  PrintDiagnostics(WarnOfRemoved(evaluation));
  if (const auto parent = RunMeant(options.recipe.recipe)) {
    auto id = IdOfRun(*parent);
    if (!id) return Fail(id.error());
    request.parent = *std::move(id);
  }
  request.evaluation = EvaluationRecord(made_by);
  for (const Input& input : evaluation.inputs) {
    if (input.kind != "checkpoint") continue;
    request.checkpoint = input.name;
    request.resumed = made_by.resumed;
    if (!options.recipe.resume.empty()) request.parent = made_by.resumed;
  }
  request.inputs = InputsValue(evaluation.inputs);
  request.sources = std::move(evaluation.sources);
  request.lockdown = std::move(evaluation.lockdown);
  request.plan = std::move(evaluation.plan);
  request.evaluate_ns = evaluation.evaluate_ns;
  return {};
}

}  // namespace muster
