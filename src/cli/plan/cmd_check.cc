// muster check: evaluates a recipe and reports all its problems without starting anything; also differences for other
// MindSpore releases, and hidden inputs of its plan. Of several recipes and folders, all of them (check_many.h).
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "cli/options/resume.h"
#include "cli/plan/check_deep.h"
#include "cli/plan/check_many.h"
#include "cli/plan/check_programs.h"
#include "cli/plan/check_releases.h"
#include "cli/plan/check_rewrite.h"
#include "cli/plan/plan_commands.h"

namespace muster {
namespace {

struct CheckOptions {
  RecipeOptions recipe;
  std::string mindspore;  // a release, "all", or empty
  bool rewrite = false;
  bool in_place = false;
  bool diff = false;
  bool deep = false;
  bool json = false;
};

void PrintOutcome(const CheckOptions& options, const Result<Evaluation>& evaluation) {
  PrintDiagnostics(evaluation ? evaluation->warnings : evaluation.error());
  if (!evaluation) return;
  const std::size_t processes = evaluation->plan.processes.size();
  const std::size_t hosts = evaluation->plan.hosts.size();
  std::printf("%s: ok, %zu process%s on %zu host%s\n", PrintableLines(options.recipe.recipe).c_str(), processes,
              processes == 1 ? "" : "es", hosts, hosts == 1 ? "" : "s");
}

int ReportReleases(const CheckOptions& options, const Result<Evaluation>& evaluation) {
  const Diagnostics& own = evaluation ? evaluation->warnings : evaluation.error();
  const auto checks = CheckReleases(options.recipe, evaluation, options.mindspore);
  if (!checks) {
    if (options.json) std::fputs(DiagnosticsJson(checks.error()).c_str(), stdout);
    if (!options.json) PrintDiagnostics(checks.error());
    return ExitCodeFor(checks.error());
  }
  if (options.json) {
    std::fputs(ReleaseChecksJson(*checks, own).c_str(), stdout);
  } else {
    PrintOutcome(options, evaluation);
    if (checks->checks.empty()) {
      std::puts("the recipe names no MindSpore release, so none can break it");
    } else if (options.mindspore == "all") {
      PrintReleaseTable(*checks);
    } else {
      PrintReleaseChecks(*checks, evaluation);
    }
  }
  int code = ExitCodeFor(own);
  for (const ReleaseCheck& check : checks->checks) {
    if (code == kExitOk) code = ExitCodeFor(check.findings);
  }
  return code;
}

int RunCheck(const CheckOptions& options) {
  auto evaluation = EvaluateFrom(options.recipe);
  // Missing programs on this machine are neither a difference between releases nor a leak.
  if (evaluation && !NamesHosts(options.recipe) && options.mindspore.empty() && !options.deep) {
    const Diagnostics missing = MissingPrograms(evaluation->plan, options.recipe.recipe);
    evaluation->warnings.insert(evaluation->warnings.end(), missing.begin(), missing.end());
  }
  if (options.rewrite) {
    const auto output = options.in_place ? RewriteChoice::Output::kInPlace
                        : options.diff   ? RewriteChoice::Output::kDiff
                                         : RewriteChoice::Output::kText;
    return ReportRewrite(options.recipe, evaluation, {options.mindspore, output, options.json});
  }
  if (!options.mindspore.empty()) return ReportReleases(options, evaluation);
  if (options.deep) {
    if (!options.json) PrintOutcome(options, evaluation);
    return ReportDeepCheck(options.recipe, evaluation, options.json);
  }
  const Diagnostics& diagnostics = evaluation ? evaluation->warnings : evaluation.error();
  if (options.json) {
    std::fputs(DiagnosticsJson(diagnostics).c_str(), stdout);
  } else {
    PrintOutcome(options, evaluation);
  }
  return ExitCodeFor(diagnostics);
}

}  // namespace

std::function<int()> SetupCheck(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<CheckOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  CLI::Option* const recipe = app.get_option("RECIPE");
  recipe->description(recipe->get_description() + "; several files and folders are checked with a table at the end");
  CLI::Option* mindspore =
      app.add_option("--mindspore", options->mindspore, "also compare with that MindSpore release, or with all")
          ->type_name("RELEASE|all");
  CLI::Option* rewrite =
      app.add_flag("--rewrite", options->rewrite, "print the recipe with that release's functions for set_context")
          ->needs(mindspore);
  CLI::Option* in_place =
      app.add_flag("--in-place", options->in_place, "replace the recipe's file by the rewritten text")->needs(rewrite);
  app.add_flag("--diff", options->diff, "print the difference to the rewritten text")
      ->needs(rewrite)
      ->excludes(in_place);
  app.add_flag("--deep", options->deep,
               "also check that the plan is reproducible, all profiles, and parameters without effect")
      ->excludes("--mindspore");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] {
    const std::vector<std::string> many = TakeManyRecipes(options->recipe);
    if (!many.empty()) {
      if (options->rewrite || options->deep) {
        return Refuse({Error("usage", {}, std::string(options->deep ? "--deep" : "--rewrite") + " takes one recipe",
                             "for FILE in …; do muster check FILE …; done")},
                      options->json);
      }
      return CheckMany(options->recipe, many, options->mindspore, options->json);
    }
    SettleResumed(options->recipe);
    return RunCheck(*options);
  };
}

}  // namespace muster
