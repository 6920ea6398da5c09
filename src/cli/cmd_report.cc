// muster report: how a run went, told from its folder alone.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "run/rehearsal.h"
#include "run/report.h"

namespace muster {
namespace {

struct Options {
  std::string run;
  bool json = false;
};

int Run(const Options& options) {
  const auto folder = FindRun(options.run);
  if (!folder) {
    PrintDiagnostics(folder.error());
    return ExitCodeFor(folder.error());
  }
  const auto report = MakeReport(*folder);
  if (!report) {
    PrintDiagnostics(report.error());
    return ExitCodeFor(report.error());
  }
  std::fputs(
      (options.json ? ReportJson(*report)
                    : ReportText(*report, {.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr}))
          .c_str(),
      stdout);
  if (report->rehearsal && !options.json) {
    if (const auto rehearsal = ReadRehearsal(*folder)) std::fputs(RehearsalText(*rehearsal).c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupReport(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddRunArgument(app, options->run);
  app.add_flag("--json", options->json, "print JSON for programs, as in report.json");
  return [options] { return Run(*options); };
}

}  // namespace muster
