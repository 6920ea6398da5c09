// muster report: reports how a run or a sweep went, from its folder alone.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/values/columns.h"
#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/jobs/job_of_run.h"
#include "cli/jobs/queued_runs.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_or_sweep.h"
#include "cli/lookup/sweep_summary.h"
#include "cli/lookup/trial_facts.h"
#include "cli/runs/report_page.h"
#include "cli/runs/run_commands.h"
#include "run/report/rehearsal.h"
#include "run/report/report.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

struct ReportOptions {
  std::vector<std::string> words;
  bool json = false;
  std::string html;
};

int ReportSweep(const std::string& folder, bool json) {
  const auto sweep = OpenSweepAt(folder);
  const auto shown = sweep ? ShowSweep(*sweep, json) : Result<void>(Fail(sweep.error()));
  if (shown) return kExitOk;
  return Refuse(shown.error());
}

// A submitted run that no head has begun.
int ReportNotBegun(const QueuedRun& run, bool json) {
  if (json) {
    nlohmann::json object = QueuedJson(run);
    object["format"] = 1;
    std::printf("%s\n", SerializedJson(object, 1).c_str());
    return kExitOk;
  }
  std::printf("%s has not begun: %s\n", Printable(run.name).c_str(), PrintableLines(QueueSentence(run)).c_str());
  std::printf("  %-10s%s\n", "run", Printable(run.run_dir).c_str());
  for (const std::string& line : OutputBeforeRun(run.run_dir)) {
    std::printf("  %-10s%s\n", kJobOutputEntry.name, Printable(line).c_str());
  }
  return kExitOk;
}

int RunReport(const ReportOptions& options) {
  if (!options.html.empty()) return WriteReportPage(options.words, options.html);
  if (options.words.size() > 1) {
    const Diagnostics several = {Error("usage", {}, "several runs or sweeps can only be compared on a page",
                                       "muster report RUN RUN --html FILE; muster diff compares as text")};
    return Refuse(several);
  }
  const auto work =
      FindRunOrSweep(options.words.empty() ? "" : options.words.front(), DirectoryUse::kRead, Prefer::kNewest);
  if (!work) return Refuse(work.error());
  if (work->is_sweep) return ReportSweep(work->folder, options.json);
  const std::string* const folder = &work->folder;
  if (const auto queued = NotBegun(*folder)) return ReportNotBegun(*queued, options.json);
  SettleIfLost(*folder);
  const auto report = MakeReport(*folder);
  if (!report) return Refuse(report.error());
  const ReportView view = {.colour = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr};
  const std::string text = options.json
                               ? ReportJson(*report, std::filesystem::absolute(*folder).lexically_normal().string())
                               : ReportText(*report, view);
  std::fputs((options.json ? WithArchiveNames(text) : FittedLines(WithArchiveNames(text), OutputColumns(0))).c_str(),
             stdout);
  if (report->rehearsal && !options.json) {
    if (const auto rehearsal = ReadRehearsal(*folder))
      std::fputs(PrintableLines(RehearsalText(*rehearsal)).c_str(), stdout);
  }
  return PrintUnreadableLogs(*report) ? kExitOk : kExitUnreadable;
}

}  // namespace

std::function<int()> SetupReport(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ReportOptions>();
  AddRunsOrSweepsArgument(app, options->words);
  auto* json = app.add_flag("--json", options->json, "print JSON for programs, as in report.json, with run_dir");
  app.add_option("--html", options->html, "write one page with plots to FILE; several: compared")
      ->type_name("FILE")
      ->excludes(json);
  return [options] { return RunReport(*options); };
}

}  // namespace muster
