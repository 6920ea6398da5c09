// muster stop: requests the head of a run or a sweep to end it.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "run/control/control_protocol.h"
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
  if (!sweep) return Refuse(sweep.error());
  const std::string shown = Printable(sweep->file.name) + " " + sweep->file.sweep_id;
  if (!sweep->view.progress().ended()) {
    const Diagnostics gone = {MachineError("control", "the head of sweep " + shown + " is no longer running",
                                           "continue with: muster resume " + ShellQuoted(sweep->file.sweep_id))};
    return Refuse(gone);
  }
  std::printf("%s: %s (%s)\n", PrintableLines(shown).c_str(), words,
              Printable(sweep->view.progress().ended()->why).c_str());
  return kExitOk;
}

// For a run without an active head: one that has ended is a success; one that was lost is not.
int ReportOver(const std::string& folder) {
  const Result<RunSummary> over = SummarizeRun(folder, false);
  if (!over) return Refuse(over.error());
  if (over->outcome == "lost") {
    const Diagnostics gone = {
        MachineError("control", "the head of run " + over->run + " is no longer running: " + Printable(over->why),
                     "see muster report")};
    return Refuse(gone);
  }
  std::printf("%s %s: has ended already (%s)\n", Printable(over->name).c_str(), PrintableLines(over->run).c_str(),
              PrintableLines(over->outcome).c_str());
  return kExitOk;
}

Result<ControlAnswer> Ask(const std::string& folder, const StopOptions& options) {
  Result<ControlConnection> head = ControlConnection::Open(folder);
  if (!head) return Fail(head.error());
  return head->Ask({ControlRequest::Ask::kStop, options.now, options.dump});
}

std::optional<JobOfRun> SubmittedAs(const std::string& folder) {
  auto job = FindJobOfRun(folder);
  if (job) return *std::move(job);
  PrintDiagnostics(job.error());
  return std::nullopt;
}

// Cancels the job of a run that waits in the queue; nothing if it does not wait there.
std::optional<int> StopQueued(const JobOfRun& job, const std::string& folder, bool is_sweep) {
  if (NewestAttempt(job) != folder) return std::nullopt;
  const auto attempts = ReadAttempts(job.first_dir);
  if (HasBegun(folder) && !is_sweep && (attempts.empty() || !attempts.back().requeued)) return std::nullopt;
  const auto status = StateOf(job);
  if (!status) return Refuse(status.error());
  const std::string shown = Printable(job.record.name) + " " + job.record.run;
  if (IsOver(status->state)) {
    SettleEnd(job, folder, *status);
    if (HasBegun(folder)) return std::nullopt;
    std::printf("%s: has ended already (%s)\n", PrintableLines(shown).c_str(),
                PrintableLines(StatusText(*status)).c_str());
    return kExitOk;
  }
  if (const auto stopped = StopJob(job, true); !stopped) return Refuse(stopped.error());
  if (const auto after = StateOf(job); after && IsOver(after->state)) SettleEnd(job, folder, *after);
  std::printf("%s: %s is cancelled\n", PrintableLines(shown).c_str(), PrintableLines(job.Text()).c_str());
  return kExitOk;
}

int AwaitEnd(const std::string& folder) {
  AwaitRunOver(folder);
  const Result<RunSummary> over = SummarizeRun(folder, false);
  if (over && over->outcome != "lost") {
    std::printf("%s %s: has ended (%s)\n", Printable(over->name).c_str(), PrintableLines(over->run).c_str(),
                PrintableLines(over->outcome).c_str());
    return kExitOk;
  }
  return ReportOver(folder);
}

int StopThroughEngine(const JobOfRun& job, const std::string& folder, const StopOptions& options, bool is_sweep) {
  if (const auto stopped = StopJob(job, options.now); !stopped) return Refuse(stopped.error());
  if (options.wait && is_sweep) {
    AwaitRunOver(folder);
    return ReportSweepOver(folder, "has ended");
  }
  if (options.wait) return AwaitEnd(folder);
  std::printf("%s %s: %s, through %s\n", Printable(job.record.name).c_str(), PrintableLines(job.record.run).c_str(),
              options.now ? "ends at once" : "is stopping", PrintableLines(job.Text()).c_str());
  return kExitOk;
}

int RunStop(const StopOptions& options) {
  const auto target = FindRunOrSweep(options.run, DirectoryUse::kControl, Prefer::kLive);
  if (!target) return Refuse(target.error());
  if (target->is_sweep && options.dump) {
    const Diagnostics none = {
        Error("usage", {}, "--dump: a sweep has no processes of its own", "name a trial: SWEEP:12")};
    return Refuse(none);
  }
  const std::string* const folder = &target->folder;
  const auto tell_over = [&] {
    return target->is_sweep ? ReportSweepOver(*folder, "has ended already") : ReportOver(*folder);
  };
  const auto job = SubmittedAs(*folder);
  if (job && !IsRunLive(*folder)) {
    if (const auto stopped = StopQueued(*job, *folder, target->is_sweep)) return *stopped;
  }
  if (!IsRunLive(*folder)) return tell_over();
  Result<ControlAnswer> answer = Ask(*folder, options);
  if (!answer) {
    if (!IsRunLive(*folder)) return tell_over();  // it has ended meanwhile
    // The head is on a node: its engine reaches it.
    if (job && !options.dump) return StopThroughEngine(*job, *folder, options, target->is_sweep);
    answer.error().front().hint =
        "it is held by " + HolderOf(*folder) + "; on its host, SIGTERM to that process asks it";
    return Refuse(answer.error());
  }
  if (options.wait) {
    if (!target->is_sweep) return AwaitEnd(*folder);
    AwaitRunOver(*folder);
    return ReportSweepOver(*folder, "has ended");
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
