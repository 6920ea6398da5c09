// muster ps: the runs that are going on.
#include <cstdio>
#include <memory>

#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_list.h"

namespace muster {
namespace {

struct Options {
  std::vector<std::string> folders;
  bool all = false;
  bool json = false;
};

int Run(const Options& options) {
  const auto listed = ListRuns(options.folders, !options.all, true);
  if (!listed) {
    PrintDiagnostics(listed.error());
    return ExitCodeFor(listed.error());
  }
  if (options.json) {
    PrintRunsJson(listed->runs, true);
    return ExitListed(listed->unreadable);
  }
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "RUN", "STARTED", "PHASE", "RUNNING", "ENDED", "RESTARTS", "FOLDER"}};
  for (const RunSummary& run : listed->runs) {
    rows.push_back({Printable(run.name), Printable(run.run), TimeText(run.started_at),
                    run.outcome != "running" ? run.outcome
                    : run.waits.empty()      ? run.phase
                                             : "waiting for devices",
                    std::to_string(run.running), std::to_string(run.ended), std::to_string(run.restarts),
                    Printable(run.run_dir)});
  }
  PrintTable(rows);
  for (const RunSummary& run : listed->runs) {
    if (run.outcome != "running" || run.waits.empty()) continue;
    std::printf("%s waits for devices: %s\n", Printable(run.run).c_str(), Printable(run.waits).c_str());
  }
  return ExitListed(listed->unreadable);
}

}  // namespace

std::function<int()> SetupPs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddFoldersArgument(app, options->folders);
  app.add_flag("--all,-a", options->all, "also those that are over");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return Run(*options); };
}

}  // namespace muster
