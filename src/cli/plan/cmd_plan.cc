// muster plan: prints the plan of a recipe as a summary, as text for comparison, or as JSON; the environment of one of
// its processes, with sources; or one of them as a shell command.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/values/json_text.h"
#include "base/values/parse_number.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/options/batch_call.h"
#include "cli/options/log_limit_option.h"
#include "cli/options/recipe_options.h"
#include "cli/options/resume.h"
#include "cli/options/wrap_option.h"
#include "cli/plan/plan_commands.h"
#include "cli/plan/plan_shell.h"
#include "plan/environment/environment.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/logs/process_choice.h"

namespace muster {
namespace {

struct PlanOptions {
  RecipeOptions recipe;
  bool json = false;
  bool id = false;
  bool full = false;
  bool summary = false;
  std::vector<std::string> wraps;
  std::string log_max;
  std::optional<std::string> env;  // ROLE[:RANK]
  std::vector<std::string> words;  // of the call
  ShellChoice shell;
  std::string as;     // --as
  std::string agent;  // --agent
};

// ROLE[:RANK] with the rank as a plain number, in the form of EvaluationRequest::explain; a role alone means its first
// process.
Result<std::string> ExplainedWord(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return text;
  const auto rank = ParseNumber<std::uint32_t>(std::string_view(text).substr(colon + 1));
  if (rank) return text.substr(0, colon + 1) + std::to_string(*rank);
  return Fail(Error("env", {}, "--env " + Quoted(text) + ": what follows the colon is not a rank", "--env worker:3"));
}

std::string EnvironmentJson(const Plan& plan, const Process& process, const std::vector<ExplainedVariable>& variables) {
  using Json = nlohmann::ordered_json;
  Json activation = Json::array();
  for (const ActivationStep& step : plan.activation) {
    activation.push_back({{"kind", ActivationKindName(step.kind)}, {"what", step.what}});
  }
  Json set = Json::array();
  Json removed = Json::array();
  for (const ExplainedVariable& variable : variables) {
    const Place& place = variable.source.place;
    Json one = {{"name", variable.name}};
    if (variable.value) one["value"] = variable.value->marked;
    one["layer"] = LayerName(variable.source.layer);
    one["file"] = place.file.empty() ? Json(nullptr) : Json(place.file);
    one["line"] = place.file.empty() ? Json(nullptr) : Json(place.line);
    (variable.value ? set : removed).push_back(std::move(one));
  }
  const Json json = {{"format", 1},
                     {"process", ProcessName(plan, process)},
                     {"activation", std::move(activation)},
                     {"variables", std::move(set)},
                     {"removed", std::move(removed)}};
  return SerializedJson(json, 1) + "\n";
}

// Among the words of --env, those without '=' name the process to explain.
Result<void> TakeExplained(PlanOptions& options) {
  std::vector<std::string>& words = options.recipe.env;
  const auto first = std::stable_partition(words.begin(), words.end(),
                                           [](const std::string& word) { return word.find('=') != std::string::npos; });
  if (first == words.end()) return {};
  options.env = *first;
  if (words.end() - first > 1 || options.id || options.full || options.summary || options.shell.asked) {
    return Fail(Error("usage", {},
                      "--env " + Quoted(*first) + " explains one process, and nothing else is printed beside it",
                      "leave --id, --full, --summary, --shell and a second --env ROLE[:RANK] out"));
  }
  words.erase(first, words.end());
  return {};
}

int ShowEnvironment(const PlanOptions& options) {
  const auto word = ExplainedWord(*options.env);
  if (!word) return Refuse(word.error(), options.json);
  auto evaluation = EvaluateExplaining(options.recipe, *word);
  if (!evaluation) return Refuse(evaluation.error(), options.json);
  if (auto wrapped = ApplyWraps(evaluation->plan, options.wraps); !wrapped)
    return Refuse(wrapped.error(), options.json);
  PrintDiagnostics(evaluation->warnings);
  const Plan& plan = evaluation->plan;
  const auto chosen = ExplainedProcess(plan, *word);
  if (!chosen) return Refuse(chosen.error(), options.json);
  const Process& process = plan.processes[*chosen];
  const auto sources = evaluation->provenance.find(plan.roles[process.role].name);
  const std::vector<ExplainedVariable> variables = ExplainEnvironment(
      plan, process,
      sources == evaluation->provenance.end() ? std::map<std::string, VariableSource>() : sources->second);
  std::fputs(PrintableLines(options.json ? EnvironmentJson(plan, process, variables)
                                         : ExplainedEnvironmentText(plan, process, variables))
                 .c_str(),
             stdout);
  return kExitOk;
}

// The canonical text, and the notes that are not part of the plan's id.
void PrintWhole(const Evaluation& evaluation) {
  std::fputs(PrintableLines(PlanText(evaluation.plan)).c_str(), stdout);
  std::fputs(PrintableLines(PlanNotesText(evaluation.plan)).c_str(), stdout);
  for (const Input& input : evaluation.inputs) {
    if (input.kind == "checkpoint") std::printf("continues from %s\n", Quoted(input.name).c_str());
  }
  for (const auto& [field, source] : evaluation.site.sources) {
    std::printf("site %s from %s\n", Printable(field).c_str(), Printable(source).c_str());
  }
}

void PrintSummary(const Evaluation& evaluation) {
  constexpr std::size_t kNarrowest = 60;
  PlanSummaryFacts facts;
  for (const MeshMade& mesh : evaluation.origins.meshes) facts.meshes.push_back(mesh.axes);
  facts.warnings = evaluation.warnings.size();
  facts.width = std::max(OutputColumns(facts.width), kNarrowest);
  std::fputs(PrintableLines(PlanSummaryText(evaluation.plan, facts)).c_str(), stdout);
}

// The batch script that runs the recipe in an allocation of the engine.
int PrintScript(const PlanOptions& options) {
  if (options.json || options.id || options.full || options.summary || options.env || options.shell.asked) {
    return Refuse(
        {Error("usage", {},
               "--on " + options.recipe.engine.on + " prints a batch script here, and another output is asked for",
               "leave --on out for the plan itself")},
        options.json);
  }
  const auto call = BatchCallFor(options.recipe, options.words, {});
  if (!call) return Refuse(call.error());
  PrintDiagnostics(call->warnings);
  std::fputs(call->script.c_str(), stdout);
  return kExitOk;
}

// The manifest of the pods that would run the recipe. There is no run yet: its place has the plan's id.
int PrintManifest(PlanOptions options) {
  constexpr std::size_t kShownId = 12;
  const std::string& on = options.recipe.engine.on;
  if (options.json || options.id || options.full || options.summary || options.env || options.shell.asked) {
    return Refuse({Error("usage", {}, "--on " + on + " prints a manifest, and another output is asked for",
                         "leave --on out for the plan itself")},
                  options.json);
  }
  if (auto requested = RequestPods(options.recipe, options.as); !requested) return Refuse(requested.error());
  const auto evaluation = EvaluateFrom(options.recipe);
  if (!evaluation) return Refuse(evaluation.error());
  PrintDiagnostics(evaluation->warnings);
  const auto pods = static_cast<std::uint32_t>(evaluation->plan.hosts.size() + options.recipe.spares);
  PodRequest request = *options.recipe.pods;
  request.stop_seconds = StopSeconds(evaluation->plan);
  const auto manifest =
      ManifestOf(request, evaluation->plan.name, PlanId(evaluation->plan).substr(0, kShownId), pods, options.agent);
  if (!manifest) return Refuse(manifest.error());
  std::fputs(manifest->text.c_str(), stdout);
  return kExitOk;
}

int PlanRecipe(const PlanOptions& options) {
  const auto pods = AsksForPods(options.recipe.engine);
  if (!pods) return Refuse(pods.error(), options.json);
  if (*pods) return PrintManifest(options);
  if (!options.as.empty() || !options.agent.empty()) {
    return Refuse({Error("usage", {}, "--as and --agent are for manifests", "--on kubernetes")}, options.json);
  }
  const auto submitted = AsksForAllocation(options.recipe.engine);
  if (!submitted) return Refuse(submitted.error(), options.json);
  if (*submitted) return PrintScript(options);
  const EngineOptions& engine = options.recipe.engine;
  if (!engine.slurm.empty() || !engine.settings.empty() || !engine.kubernetes.empty()) {
    return Refuse(
        {Error("usage", {}, "--slurm, --kubernetes and --engine-option ask for hosts, and no engine is asked for any",
               "outside of an allocation: --on slurm, --on kubernetes")},
        options.json);
  }
  if (options.env) return ShowEnvironment(options);
  if (options.shell.asked) {
    const auto line = PlanAsShellLine(options.recipe, options.shell, options.wraps);
    if (!line) return Refuse(line.error(), options.json);
    std::fputs(line->c_str(), stdout);
    return kExitOk;
  }
  auto evaluation = EvaluateFrom(options.recipe);
  if (evaluation) {
    auto changed = ApplyWraps(evaluation->plan, options.wraps);
    if (changed) changed = ApplyLogLimit(evaluation->plan, options.log_max);
    if (!changed) evaluation = tl::unexpected(changed.error());
  }
  if (!evaluation) return Refuse(evaluation.error(), options.json);
  PrintDiagnostics(evaluation->warnings);
  if (options.id) {
    std::printf("%s\n", PlanId(evaluation->plan).c_str());
  } else if (options.json) {
    std::printf("%s\n", PlanToJson(evaluation->plan, InputsValue(evaluation->inputs)).c_str());
  } else if (options.full || (!options.summary && isatty(STDOUT_FILENO) != 1)) {
    PrintWhole(*evaluation);
  } else {
    PrintSummary(*evaluation);
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupPlan(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<PlanOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  AddEngineSettings(app, options->recipe.engine);
  AddManifestForm(app, options->as);
  app.add_option("--agent", options->agent, "with --on kubernetes: path of muster-agent in the image")
      ->type_name("PATH");
  options->words = invocation.words;
  AddWrapOption(app, options->wraps);
  AddLogLimitOption(app, options->log_max);
  auto* json = app.add_flag("--json", options->json, "print JSON for programs; muster run --plan takes it");
  auto* id = app.add_flag("--id", options->id, "print only the plan's id")->excludes(json);
  auto* full = app.add_flag("--full", options->full, "print every process and variable (default for a pipe or file)");
  full->excludes(json)->excludes(id);
  auto* summary = app.add_flag("--summary", options->summary, "print one screen (default on a terminal)");
  summary->excludes(json)->excludes(id)->excludes(full);
  auto* env = app.get_option("--env");
  env->description("print the variables of one process, with what set or removed each; with '=': " +
                   env->get_description());
  env->type_name("ROLE[:RANK]|NAME=VALUE");
  auto* shell = app.add_flag("--shell", options->shell.asked,
                             "print one process as a shell command line; of a RUN, as it was bound");
  shell->excludes(json)->excludes(id)->excludes(full)->excludes(summary);
  app.add_option("--rank", options->shell.rank,
                 "with --shell: the process of this rank; in roles without ranks, of this number")
      ->type_name("N")
      ->needs(shell);
  app.add_option("--role", options->shell.role, "with --shell: the process is of this role")
      ->type_name("ROLE")
      ->needs(shell);
  return [options] {
    if (auto taken = TakeExplained(*options); !taken) return Refuse(taken.error(), options->json);
    SettleResumed(options->recipe);
    return PlanRecipe(*options);
  };
}

}  // namespace muster
