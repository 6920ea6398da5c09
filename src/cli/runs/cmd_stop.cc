// muster stop: requests the head of a run or a sweep to end it.
#include <cstdio>
#include <memory>
#include <string>

#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/options/run_or_sweep.h"
#include "cli/options/trial_facts.h"
#include "cli/runs/run_commands.h"
#include "run/control/control_connection.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"

namespace muster {
namespace {

struct StopOptions {
  std::string run;
  bool now = false;
  bool wait = false;
  bool dump = false;
};

// The same as ReportOver, for a sweep.
int ReportSweepOver(const std::string& folder, const char* words) {
  const auto sweep = OpenSweepAt(folder);
  if (!sweep) {
    PrintDiagnostics(sweep.error());
    return ExitCodeFor(sweep.error());
  }
  const std::string shown = Printable(sweep->file.name) + " " + sweep->file.sweep_id;
  if (!sweep->view.account().ended()) {
    const Diagnostics gone = {MachineError("control", "the head of sweep " + shown + " is no longer running",
                                           "continue with: muster resume " + ShellQuoted(sweep->file.sweep_id))};
    PrintDiagnostics(gone);
    return ExitCodeFor(gone);
  }
  std::printf("%s: %s (%s)\n", shown.c_str(), words, Printable(sweep->view.account().ended()->why).c_str());
  return kExitOk;
}

// For a run without an active head: one that has ended is a success; one that was lost is not.
int ReportOver(const std::string& folder) {
  const Result<RunSummary> over = SummarizeRun(folder, false);
  if (!over) {
    PrintDiagnostics(over.error());
    return ExitCodeFor(over.error());
  }
  if (over->outcome == "lost") {
    const Diagnostics gone = {
        MachineError("control", "the head of run " + over->run + " is no longer running: " + Printable(over->why),
                     "see muster report")};
    PrintDiagnostics(gone);
    return ExitCodeFor(gone);
  }
  std::printf("%s %s: has ended already (%s)\n", Printable(over->name).c_str(), over->run.c_str(),
              over->outcome.c_str());
  return kExitOk;
}

Result<ControlAnswer> Ask(const std::string& folder, const StopOptions& options) {
  Result<ControlConnection> head = ControlConnection::Open(folder);
  if (!head) return Fail(head.error());
  return head->Ask({ControlRequest::Ask::kStop, options.now, options.dump});
}

int RunStop(const StopOptions& options) {
  const auto target = FindRunOrSweep(options.run, DirectoryUse::kControl, Prefer::kLive);
  if (!target) {
    PrintDiagnostics(target.error());
    return ExitCodeFor(target.error());
  }
  if (target->is_sweep && options.dump) {
    const Diagnostics none = {
        Error("usage", {}, "--dump: a sweep has no processes of its own", "name a trial: SWEEP:12")};
    PrintDiagnostics(none);
    return ExitCodeFor(none);
  }
  const std::string* const folder = &target->folder;
  const auto tell_over = [&] {
    return target->is_sweep ? ReportSweepOver(*folder, "has ended already") : ReportOver(*folder);
  };
  if (!IsRunLive(*folder)) return tell_over();
  Result<ControlAnswer> answer = Ask(*folder, options);
  if (!answer) {
    if (!IsRunLive(*folder)) return tell_over();  // it has ended meanwhile
    answer.error().front().hint =
        "it is held by " + HolderOf(*folder) + "; on its host, SIGTERM to that process asks it";
    PrintDiagnostics(answer.error());
    return ExitCodeFor(answer.error());
  }
  if (options.wait) {
    AwaitRunOver(*folder);
    if (target->is_sweep) return ReportSweepOver(*folder, "has ended");
    const Result<RunSummary> over = SummarizeRun(*folder, false);
    if (over && over->outcome != "lost") {
      std::printf("%s %s: has ended (%s)\n", Printable(over->name).c_str(), over->run.c_str(), over->outcome.c_str());
      return kExitOk;
    }
    return ReportOver(*folder);
  }
  const RunStatus& status = answer->status;
  std::printf("%s %s: %s\n", Printable(status.name).c_str(), Printable(status.run).c_str(),
              answer->already     ? "is stopping already"
              : answer->dump != 0 ? "is stopped after the dump of its processes"
              : options.now       ? "ends at once"
                                  : "is stopping");
  return kExitOk;
}

}  // namespace

std::function<int()> SetupStop(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<StopOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.add_flag("--now", options->now, "kill its processes at once, without grace period");
  app.add_flag("--dump", options->dump, "first record the stacks of all processes for the report");
  app.add_flag("--wait", options->wait, "wait until the run or sweep has ended");
  return [options] { return RunStop(*options); };
}

}  // namespace muster
