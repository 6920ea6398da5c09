// muster ls: the runs there have been, and how each ended.
#include <cstdio>
#include <memory>

#include "base/shell_quote.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/recipe_list.h"
#include "cli/run_list.h"

namespace muster {
namespace {

struct Options {
  std::vector<std::string> folders;
  bool json = false;
  bool recipes = false;
};

int Run(const Options& options) {
  if (options.recipes) return ShowRecipes(options.json);
  const auto runs = ListRuns(options.folders, false, false);
  if (!runs) {
    PrintDiagnostics(runs.error());
    return ExitCodeFor(runs.error());
  }
  if (options.json) {
    PrintRunsJson(*runs, false);
    return kExitOk;
  }
  std::vector<std::vector<std::string>> rows = {{"NAME", "RUN", "STARTED", "TOOK", "OUTCOME", "EXIT", "WHY"}};
  for (const RunSummary& run : *runs) {
    const bool running = run.outcome == "running";
    rows.push_back({Printable(run.name), Printable(run.run), TimeText(run.started_at),
                    running ? "" : DurationText(run.seconds), run.outcome, running ? "" : std::to_string(run.exit_code),
                    Printable(run.why)});
  }
  PrintTable(rows);
  return kExitOk;
}

}  // namespace

std::function<int()> SetupLs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddFoldersArgument(app, options->folders);
  app.add_flag("--json", options->json, "print JSON for programs");
  app.add_flag("--recipes", options->recipes,
               "the recipes that there are to run instead: muster's own, those here, libraries")
      ->excludes(app.get_option("FOLDERS"));
  return [options] { return Run(*options); };
}

}  // namespace muster
