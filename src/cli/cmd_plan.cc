// muster plan: the plan of a recipe, as text that reads and compares well, or as JSON.
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/log_limit_option.h"
#include "cli/print_diagnostics.h"
#include "cli/recipe_options.h"
#include "cli/wrap_option.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"

namespace muster {
namespace {

struct Options {
  RecipeOptions recipe;
  bool json = false;
  bool id = false;
  std::vector<std::string> wraps;
  std::string log_max;
};

int Run(const Options& options) {
  auto evaluation = EvaluateFrom(options.recipe, false);
  if (evaluation) {
    auto changed = ApplyWraps(evaluation->plan, options.wraps);
    if (changed) changed = ApplyLogLimit(evaluation->plan, options.log_max);
    if (!changed) evaluation = tl::unexpected(changed.error());
  }
  if (!evaluation) {
    if (options.json) std::fputs(DiagnosticsJson(evaluation.error()).c_str(), stdout);
    PrintDiagnostics(evaluation.error());
    return ExitCodeFor(evaluation.error());
  }
  PrintDiagnostics(evaluation->warnings);
  if (options.id) {
    std::printf("%s\n", PlanId(evaluation->plan).c_str());
  } else if (options.json) {
    std::printf("%s\n", PlanToJson(evaluation->plan, InputsValue(evaluation->inputs)).c_str());
  } else {
    std::fputs(PlanText(evaluation->plan).c_str(), stdout);
    std::fputs(PlanNotesText(evaluation->plan).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupPlan(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<Options>();
  AddRecipeOptions(app, options->recipe, invocation);
  AddWrapOption(app, options->wraps);
  AddLogLimitOption(app, options->log_max);
  auto* json = app.add_flag("--json", options->json, "print JSON for programs; muster run --plan takes it");
  app.add_flag("--id", options->id, "print only the plan's id")->excludes(json);
  return [options] { return Run(*options); };
}

}  // namespace muster
