// muster explain: shows where a value of a plan comes from, or why a trial of a sweep has its point.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/clock.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/explain_trial.h"
#include "explain/explain.h"
#include "lua/state/own_data.h"

namespace muster {
namespace {

struct ExplainOptions {
  RecipeOptions recipe;
  std::vector<std::string> words;  // [name=value …] NAME
  ExplainQuestion question;
  bool json = false;
};

Result<void> ReadWords(ExplainOptions& options) {
  std::vector<std::string> names;
  for (const std::string& word : options.words) (IsOverride(word) ? options.recipe.overrides : names).push_back(word);
  if (names.size() != 1) {
    return Fail(Error("usage", {},
                      names.empty()
                          ? std::string("missing argument NAME: what should be explained?")
                          : "one name is explained at a time, got " + Quoted(names[0]) + " and " + Quoted(names[1]),
                      "muster explain recipes/pipeline.lua layers=64 layers_per_stage"));
  }
  options.question.name = names[0];
  return {};
}

int RunExplain(ExplainOptions& options) {
  if (options.words.empty() && IsTrialWord(options.recipe.recipe)) {
    return ExplainTrial(options.recipe.recipe, options.json);
  }
  if (auto read = ReadWords(options); !read) return Refuse(read.error(), options.json);
  auto thing = PrepareEvaluation(options.recipe);
  if (!thing) return Refuse(thing.error(), options.json);
  const auto schema = OwnSchema();
  if (!schema) return Refuse(schema.error(), options.json);

  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t began = MonotonicNowNs();
  WaitLine waiting("explaining " + options.question.name);
  std::size_t plans = 0;
  Evaluator evaluator;
  Diagnostics warnings;
  const auto plan_again = [&](const std::vector<Override>& more, const std::string& process, EvaluationDepth depth) {
    EvaluationOptions evaluation = *thing;
    evaluation.overrides.insert(evaluation.overrides.end(), more.begin(), more.end());
    if (plans > 0) evaluation.rules.clear();  // rules check the plan itself, not those for comparison
    evaluation.task = PlanTask{depth, process};
    if (plans == 0) {
      evaluation.on_print = [](const std::string& line) { std::fprintf(stderr, "%s\n", Printable(line).c_str()); };
    }
    auto result = evaluator.Evaluate(evaluation);
    if (plans++ == 0 && result) warnings = result->warnings;
    const auto seconds = static_cast<unsigned>((MonotonicNowNs() - began) / kSecond);
    if (seconds > 0) waiting.Show(seconds, std::to_string(plans) + " plans made");
    return result;
  };
  const auto explanation = Explain(options.question, &*schema, plan_again);
  waiting.Clear();
  if (!explanation) return Refuse(explanation.error(), options.json);
  PrintDiagnostics(warnings);
  constexpr std::size_t kIndent = 6;
  const std::string text = options.json ? ExplanationJson(*explanation)
                                        : WrappedLines(ExplanationText(*explanation), OutputColumns(0), kIndent);
  std::fputs(PrintableLines(text).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::function<int()> SetupExplain(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option("RECIPE", options->recipe.recipe,
                 "the recipe, or a RUN for its stored recipe; SWEEP:TRIAL alone: why the trial has its point")
      ->required();
  app.add_option("OVERRIDES", options->words,
                 "parameters, and the NAME to explain: parameter, derived value, attribute, variable, or word of a "
                 "command (command:--layers)")
      ->type_name("[name=value …] NAME");
  app.add_option("--role", options->question.processes.role, "only processes of this role")->type_name("ROLE");
  app.add_option("--rank", options->question.processes.rank,
                 "only processes of this rank; in roles without ranks, of this number")
      ->type_name("N");
  app.add_flag("--json", options->json, "print JSON for programs");
  AddPlanningOptions(app, options->recipe, invocation);
  return [options] { return RunExplain(*options); };
}

}  // namespace muster
