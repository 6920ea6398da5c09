// muster check: evaluates a recipe and shows everything that is wrong with it, without starting anything.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/recipe_options.h"

namespace muster {
namespace {

struct Options {
  RecipeOptions recipe;
  bool json = false;
};

int Run(const Options& options) {
  const auto evaluation = EvaluateFrom(options.recipe, false);
  const Diagnostics& diagnostics = evaluation ? evaluation->warnings : evaluation.error();
  if (options.json) {
    std::fputs(DiagnosticsJson(diagnostics).c_str(), stdout);
  } else {
    PrintDiagnostics(diagnostics);
    if (evaluation) {
      const std::size_t processes = evaluation->plan.processes.size();
      const std::size_t hosts = evaluation->plan.hosts.size();
      std::printf("%s: ok, %zu process%s on %zu host%s\n", options.recipe.recipe.c_str(), processes,
                  processes == 1 ? "" : "es", hosts, hosts == 1 ? "" : "s");
    }
  }
  return ExitCodeFor(diagnostics);
}

}  // namespace

std::function<int()> SetupCheck(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<Options>();
  AddRecipeOptions(app, options->recipe, invocation);
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return Run(*options); };
}

}  // namespace muster
