// muster stop: asks the head of a run to end it.
#include <cstdio>
#include <memory>
#include <string>

#include "base/shell_quote.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "run/control_client.h"
#include "run/run_directory.h"
#include "run/run_summary.h"

namespace muster {
namespace {

struct Options {
  std::string run;
  bool now = false;
  bool wait = false;
};

// Of a run that nobody holds: that it has ended is what was wanted; that it was lost is not.
int TellOver(const std::string& folder) {
  const Result<RunSummary> over = SummarizeRun(folder, false);
  if (!over) {
    PrintDiagnostics(over.error());
    return ExitCodeFor(over.error());
  }
  if (over->outcome == "lost") {
    const Diagnostics gone = {MachineError("control",
                                           "the muster of run " + over->run + " is gone: " + Printable(over->why),
                                           "muster report tells what is known of its processes")};
    PrintDiagnostics(gone);
    return ExitCodeFor(gone);
  }
  std::printf("%s %s: has ended already (%s)\n", Printable(over->name).c_str(), over->run.c_str(),
              over->outcome.c_str());
  return kExitOk;
}

Result<ControlAnswer> Ask(const std::string& folder, bool now) {
  Result<ControlConnection> head = ControlConnection::Open(folder);
  if (!head) return Fail(head.error());
  return head->Ask({ControlRequest::Ask::kStop, now});
}

int Run(const Options& options) {
  const auto folder = FindRun(options.run);
  if (!folder) {
    PrintDiagnostics(folder.error());
    return ExitCodeFor(folder.error());
  }
  if (!IsRunLive(*folder)) return TellOver(*folder);
  Result<ControlAnswer> answer = Ask(*folder, options.now);
  if (!answer) {
    if (!IsRunLive(*folder)) return TellOver(*folder);  // it ended meanwhile
    answer.error().front().hint =
        "it is held by " + HolderOf(*folder) + "; on its host, SIGTERM to that process asks it";
    PrintDiagnostics(answer.error());
    return ExitCodeFor(answer.error());
  }
  if (options.wait) {
    AwaitRunOver(*folder);
    const Result<RunSummary> over = SummarizeRun(*folder, false);
    if (over && over->outcome != "lost") {
      std::printf("%s %s: has ended (%s)\n", Printable(over->name).c_str(), over->run.c_str(), over->outcome.c_str());
      return kExitOk;
    }
    return TellOver(*folder);
  }
  const RunStatus& status = answer->status;
  std::printf("%s %s: %s\n", Printable(status.name).c_str(), Printable(status.run).c_str(),
              answer->already ? "is stopping already"
              : options.now   ? "ends at once"
                              : "is stopping");
  return kExitOk;
}

}  // namespace

std::function<int()> SetupStop(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddRunArgument(app, options->run);
  app.add_flag("--now", options->now, "kill its processes at once, without their grace");
  app.add_flag("--wait", options->wait, "return when the run is over");
  return [options] { return Run(*options); };
}

}  // namespace muster
