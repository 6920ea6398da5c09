// muster plan: prints the plan of a recipe as a summary, as text for comparison, or as JSON; the environment of one
// of its processes, with sources; or one of them as a shell command, also of a RUN.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "cli/lookup/known_recipe.h"
#include "cli/options/batch_call.h"
#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "muster/result.h"
#include "plan/environment/environment.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "plan/text/shell_text.h"
#include "run/logs/log_choice.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// muster plan --shell: one process as a shell command (plan/text/shell_text.h), of a recipe's plan or of a
// RUN.

struct ShellChoice {
  bool asked = false;  // --shell
  std::string role;    // empty: the role that has the rank
  std::optional<std::uint32_t> rank;
};

namespace fs = std::filesystem;

// The binding.json of the run, with the current path of the run directory.
Result<Binding> BindingOfRun(const std::string& run_dir) {
  const auto fail = [&](const std::string& why) {
    return Fail(Error("run", {}, fmt::format("the run {} has no binding: {}", Quoted(run_dir), why),
                      "a run that came to its start has one"));
  };
  const auto text = ReadSmallFile(kBindingEntry.In(run_dir), kBindingEntry.most);
  if (!text) return fail(text.error());
  const auto json = ValueFromJsonText(*text);
  if (!json) return fail(json.error());
  Binding binding;
  binding.run_id = TextField(*json, "run");
  binding.run_dir = AbsolutePath(run_dir);
  binding.checkpoint = TextField(*json, "checkpoint");
  if (const Value* hosts = FieldOf(*json, "hosts"); hosts != nullptr && hosts->AsList() != nullptr) {
    for (const Value& one : *hosts->AsList()) {
      HostBinding& host = binding.hosts.emplace_back(HostBinding{TextField(one, "name"), TextField(one, "address")});
      const Value* devices = FieldOf(one, "devices");
      if (devices == nullptr || devices->AsList() == nullptr) continue;
      for (const Value& device : *devices->AsList()) {
        host.devices.push_back(device.AsString() != nullptr ? *device.AsString() : std::string());
      }
    }
  }
  if (const Value* ports = FieldOf(*json, "ports"); ports != nullptr && ports->AsMap() != nullptr) {
    for (const auto& [name, number] : *ports->AsMap()) {
      if (number.AsInt() != nullptr) binding.ports[name] = static_cast<std::uint16_t>(*number.AsInt());
    }
  }
  return binding;
}

Result<const Process*> Chosen(const Plan& plan, const ShellChoice& choice) {
  std::vector<std::string> roles;
  for (const Role& role : plan.roles) roles.push_back(role.name);
  std::vector<const Process*> chosen;
  bool known = choice.role.empty();
  for (const Process& process : plan.processes) {
    const bool of_role =
        choice.role.empty() ? process.rank.has_value() || !choice.rank : plan.roles[process.role].name == choice.role;
    known = known || of_role;
    if (of_role && (!choice.rank || process.rank.value_or(process.index) == *choice.rank)) chosen.push_back(&process);
  }
  if (chosen.size() == 1) return chosen.front();
  if (!known) {
    return Fail(Error("shell", {}, fmt::format("--role {}: the plan has no such role", Quoted(choice.role)),
                      DidYouMean(choice.role, roles)));
  }
  const std::string example = fmt::format("--role {} --rank 0", plan.roles.back().name);
  if (chosen.empty()) {
    return Fail(Error("shell", {}, fmt::format("--rank {}: no process has it", choice.rank.value_or(0)), example));
  }
  return Fail(Error("shell", {}, fmt::format("--shell is for one process, and these are {}", chosen.size()),
                    "for example " + example));
}

// A bare name that is not on the PATH may be a program beside muster, as for muster run.
std::string ProgramOf(const std::string& word) {
  if (word.empty() || word.find('/') != std::string::npos || word.find(kPlaceholderOpen) != std::string::npos)
    return {};
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string folder(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (::access((folder + "/" + word).c_str(), X_OK) == 0) return {};
  }
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / word;
  return ::access(beside.c_str(), X_OK) == 0 ? beside.string() : std::string();
}

Result<std::string> LineOf(const Plan& plan, const ShellChoice& choice, const Binding* binding) {
  const auto process = Chosen(plan, choice);
  if (!process) return Fail(process.error());
  return ShellLine(plan, **process, {binding, ProgramOf(EffectiveCommand(plan, **process).front().marked)});
}

// For a RUN without overrides: the plan that was run, with its binding. Kinds "shell", "run", "binding", and those of
// EvaluateFrom. Prints the warnings of an evaluation.
Result<std::string> PlanAsShellLine(const RecipeOptions& options, const ShellChoice& choice,
                                    const PlanChanges& changes) {
  const bool as_it_was = options.overrides.empty() && options.resume.empty() && !HasRecipeChanges(options);
  const auto run_dir = as_it_was ? RunMeant(options.recipe) : std::nullopt;
  if (run_dir) {
    auto stored = PlanOfRun(*run_dir);
    if (!stored) return Fail(stored.error());
    auto binding = BindingOfRun(*run_dir);
    if (!binding) return Fail(binding.error());
    if (auto changed = ApplyPlanChanges(stored->plan, changes); !changed) return Fail(changed.error());
    return LineOf(stored->plan, choice, &*binding);
  }
  auto evaluation = EvaluateFrom(options);
  if (!evaluation) return Fail(evaluation.error());
  if (auto changed = ApplyPlanChanges(evaluation->plan, changes); !changed) return Fail(changed.error());
  PrintDiagnostics(evaluation->warnings);
  return LineOf(evaluation->plan, choice, nullptr);
}

}  // namespace

// muster plan: prints the plan of a recipe as a summary, as text for comparison, or as JSON; the environment of one of
// its processes, with sources; or one of them as a shell command.

namespace {

struct PlanOptions {
  RecipeOptions recipe;
  bool json = false;
  bool id = false;
  bool full = false;
  bool summary = false;
  PlanChanges changes;
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

struct PrintedVariable {
  const ExplainedVariable& variable;
};
template <class V>
void Parts(V& v, const PrintedVariable& printed) {
  const ExplainedVariable& variable = printed.variable;
  const Place& place = variable.source.place;
  v("name", variable.name);
  if (variable.value) v("value", variable.value->marked);
  v("layer", LayerName(variable.source.layer)), v("file", As<NullIfNone>(place.file));
  v("line", place.file.empty() ? std::nullopt : std::optional(place.line));
}
struct PrintedStep {
  const ActivationStep& step;
};
template <class V>
void Parts(V& v, const PrintedStep& printed) {
  v("kind", ActivationKindName(printed.step.kind)), v("what", printed.step.what);
}
struct PrintedEnvironment {
  std::string process;
  std::vector<PrintedStep> activation;
  std::vector<PrintedVariable> set, removed;
};
template <class V>
void Parts(V& v, const PrintedEnvironment& printed) {
  v("format", 1), v("process", printed.process), v("activation", printed.activation), v("variables", printed.set);
  v("removed", printed.removed);
}

std::string EnvironmentJson(const Plan& plan, const Process& process, const std::vector<ExplainedVariable>& variables) {
  PrintedEnvironment printed{ProcessName(plan, process), {}, {}, {}};
  for (const ActivationStep& step : plan.activation) printed.activation.push_back({step});
  for (const ExplainedVariable& variable : variables)
    (variable.value ? printed.set : printed.removed).push_back({variable});
  return JsonOf<PartForms>(printed, 1) + "\n";
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
  if (auto changed = ApplyPlanChanges(evaluation->plan, options.changes); !changed) {
    return Refuse(changed.error(), options.json);
  }
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
    const auto line = PlanAsShellLine(options.recipe, options.shell, options.changes);
    if (!line) return Refuse(line.error(), options.json);
    std::fputs(line->c_str(), stdout);
    return kExitOk;
  }
  auto evaluation = EvaluateFrom(options.recipe);
  if (evaluation) {
    if (auto changed = ApplyPlanChanges(evaluation->plan, options.changes); !changed) {
      evaluation = tl::unexpected(changed.error());
    }
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

std::string EnvironmentSchema() {
  ExplainedVariable set;
  set.value.emplace();
  return SchemaOf<PartForms>(PrintedEnvironment{{}, {{ActivationStep()}}, {{set}}, {{ExplainedVariable()}}});
}

std::function<int()> SetupPlan(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<PlanOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  AddEngineSettings(app, options->recipe.engine);
  AddManifestForm(app, options->as);
  app.add_option("--agent", options->agent, "with --on kubernetes: path of muster-agent in the image")
      ->type_name("PATH");
  options->words = invocation.words;
  AddPlanChanges(app, options->changes);
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
