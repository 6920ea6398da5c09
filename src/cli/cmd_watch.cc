// muster watch: follows a run until it is over.
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "run/watch.h"

namespace muster {
namespace {

struct Options {
  std::string run;
  bool json = false;
  bool verbose = false;
};

int Run(const Options& options) {
  const auto folder = FindRun(options.run);
  if (!folder) {
    PrintDiagnostics(folder.error());
    return ExitCodeFor(folder.error());
  }
  ConsoleOptions console;
  console.output = false;
  console.verbose = options.verbose;
  const Result<int> code = WatchRun(*folder, console, options.json);
  if (code) return *code;
  PrintDiagnostics(code.error());
  return ExitCodeFor(code.error());
}

}  // namespace

std::function<int()> SetupWatch(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddRunArgument(app, options->run);
  app.add_flag("--json", options->json, "print the lines of the journal, as they are written, for programs");
  app.add_flag("--verbose,-v", options->verbose,
               "end with the whole report where the run succeeded, too: receipt, times, start-up");
  return [options] { return Run(*options); };
}

}  // namespace muster
