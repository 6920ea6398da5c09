#include "cli/options/plan_argument.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/values/shell_quote.h"
#include "cli/lookup/stored_recipe.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

// The content of a regular file that begins with a JSON object; a recipe never does.
std::optional<std::string> PlanFileText(const std::string& word) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(word, error)) return std::nullopt;
  if (std::filesystem::file_size(word, error) > kMaxPlanJsonBytes) return std::nullopt;
  std::ifstream file(word, std::ios::binary);
  char first = 0;
  file >> first;
  if (first != '{') return std::nullopt;
  file.seekg(0);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<void> Evaluate(PlanArgument& thing, EvaluationOptions made_by) {
  auto evaluation = EvaluateRecipe(made_by);
  if (!evaluation) return Fail(evaluation.error());
  thing.plan = evaluation->plan;
  thing.warnings = evaluation->warnings;
  thing.sources = evaluation->sources;
  thing.evaluation = *std::move(evaluation);
  thing.made_by = std::move(made_by);
  return {};
}

Result<PlanArgument> RunThing(PlanArgument thing, const std::string& run_dir) {
  auto text = PlanFileText(run_dir + "/plan.json");
  if (!text) return Fail(Error("run", {}, Quoted(run_dir) + " has no plan.json that can be read"));
  auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  auto sources = SourcesOfRun(run_dir);
  if (!sources) return Fail(sources.error());
  auto made_by = EvaluationOfRun(run_dir);
  if (!made_by) {
    thing.why_not = made_by.error().front().message;
  } else if (auto made = Evaluate(thing, *std::move(made_by)); !made) {
    thing.why_not = thing.name + ": its stored recipe leads to no plan any more: " + made.error().front().message;
  } else if (PlanId(thing.plan) != PlanId(*plan)) {
    thing.why_not = thing.name + ": its stored recipe leads to another plan now than the one that was run";
    thing.made_by.reset();
    thing.evaluation.reset();
  }
  thing.plan = *std::move(plan);
  thing.sources = *std::move(sources);
  return thing;
}

}  // namespace

bool IsOverride(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && word.find('/') > equals;
}

Result<PlanArgument> ResolvePlanArgument(const std::string& word, const std::vector<std::string>& overrides,
                                         const RecipeOptions& options) {
  PlanArgument thing;
  thing.name = word;
  for (const std::string& override : overrides) thing.name += " " + ShellQuoted(override);
  if (const auto text = PlanFileText(word)) {
    if (!overrides.empty()) {
      return Fail(Error("usage", {}, Quoted(word) + " is a plan: it has its parameters already",
                        "give overrides to a recipe or a RUN"));
    }
    auto plan = PlanFromJson(*text);
    if (!plan) return Fail(plan.error());
    thing.plan = *std::move(plan);
    thing.why_not = word + " is a plan without its recipe";
    return thing;
  }
  if (overrides.empty()) {
    if (const auto run = RunMeant(word, DirectoryUse::kRead)) return RunThing(std::move(thing), *run);
  }
  RecipeOptions chosen = options;
  chosen.recipe = word;
  chosen.overrides = overrides;
  auto made_by = PrepareEvaluation(chosen);
  if (!made_by) return Fail(made_by.error());
  if (auto made = Evaluate(thing, *std::move(made_by)); !made) return Fail(made.error());
  return thing;
}

}  // namespace muster
