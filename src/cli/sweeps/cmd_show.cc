// muster show: the state of a sweep, or the history of one of its trials.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "base/values/shown_number.h"
#include "base/values/units.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "cli/lookup/sweep_summary.h"
#include "cli/lookup/trial_facts.h"
#include "cli/sweeps/sweep_commands.h"
#include "cli/sweeps/trial_curve.h"
#include "run/directory/run_note.h"
#include "sweep/index/trial_choice.h"
#include "sweep/trial/trial_history.h"

namespace muster {
namespace {

struct ShowOptions {
  std::string word;
  std::string curve;  // a metric; empty: the objective
  bool log = false;
  bool json = false;
};

void PrintField(const std::string& what, const std::string& text) {
  std::printf("%-12s %s\n", what.c_str(), PrintableLines(text).c_str());
}

void PrintTrial(const OpenedSweep& sweep, const std::vector<AttemptRow>& attempts, const AttemptRow& kept,
                const std::vector<std::string>& decisions, TrialNumber trial) {
  const TrialFacts last(sweep, attempts.back());
  PrintField("trial", fmt::format("{} of {}  {}", trial, Printable(sweep.file.name), last.row().id));
  PrintField("state", last.State() + (kept.attempt == last.row().latest
                                          ? std::string()
                                          : fmt::format(", the result is that of attempt {}", kept.attempt + 1)));
  for (const auto& [name, value] : last.row().point) {
    PrintField("  " + Printable(name), Printable(value.AsString() != nullptr ? *value.AsString() : ToText(value)));
  }
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    std::printf("\nattempt %u: %s\n", row.attempt + 1, PrintableLines(attempt.AttemptState()).c_str());
    if (const std::string from = attempt.FromText(); !from.empty()) PrintField("  from", Printable(from));
    PrintField(
        "  started",
        TimeText(row.began) + (row.ended.empty() ? "" : ", took " + DurationText(static_cast<double>(row.ms) / 1000)));
    if (!row.job.empty()) PrintField("  job", Printable(row.job));
    if (!row.hosts.empty()) PrintField("  hosts", Printable(*attempt.Of("hosts").AsString()));
    if (row.loss) {
      PrintField("  " + Printable(sweep.ValueName()), ShownNumber(ObjectiveValue(sweep.file.objective, *row.loss)));
    }
    for (const auto& [name, value] : row.metrics) {
      if (!row.loss || !sweep.file.objective || name != sweep.file.objective->metric) {
        PrintField("  " + Printable(name), Printable(ShownValue(value)));
      }
    }
    if (!row.why.empty()) PrintField("  why", Printable(row.why));
    if (!row.blamed.empty()) PrintField("  blamed", Printable(row.blamed));
    if (const Value tags = attempt.Of("tags"); tags.AsString() != nullptr)
      PrintField("  tags", Printable(*tags.AsString()));
    if (const Value note = attempt.Of("note"); note.AsString() != nullptr)
      PrintField("  note", NoteText(*note.AsString(), 13));
    PrintField("  directory", Printable(attempt.RunDir()));
  }
  if (!decisions.empty()) std::puts("\nearly stopping");
  for (const std::string& decision : decisions) std::printf("  %s\n", PrintableLines(decision).c_str());
}

// The curve of the attempt that the trial keeps, or of the newest one that has reported; of the objective, unless
// another metric is wanted.
Result<void> PrintCurve(const OpenedSweep& sweep, std::vector<AttemptRow> attempts, const AttemptRow& kept,
                        const ShowOptions& options) {
  CurveChoice choice{options.curve, sweep.file.resource};
  if (choice.metric.empty() && sweep.file.objective) choice.metric = sweep.file.objective->metric;
  if (choice.metric.empty()) return {};
  constexpr std::size_t kWidest = 100;
  PlotShape shape;
  shape.columns = std::min(OutputColumns(80), kWidest);
  shape.log_y = options.log;
  shape.glyphs = OutputGlyphs();
  std::reverse(attempts.begin(), attempts.end());
  std::stable_partition(attempts.begin(), attempts.end(),
                        [&](const AttemptRow& attempt) { return attempt.attempt == kept.attempt; });
  for (const AttemptRow& attempt : attempts) {
    choice.must_exist = &attempt == &attempts.front() && !options.curve.empty();
    const auto lines = CurveLines(
        ReadTrialHistory(attempt.RunDirs(sweep.dir), sweep.file.metrics, sweep.file.resource, !attempt.ended.empty()),
        choice, shape);
    if (!lines) return Fail(lines.error());
    if (lines->empty()) continue;
    std::puts("");
    for (const std::string& line : *lines) std::puts(PrintableLines(line).c_str());
    break;
  }
  return {};
}

Result<void> ShowTrial(const OpenedSweep& sweep, const std::string& word, const ShowOptions& options) {
  const auto chosen = ChooseTrial(sweep.view, word);
  if (!chosen) return Fail(chosen.error());
  auto of_trial = sweep.view.AttemptsOf(chosen->trial);
  const auto decisions = sweep.view.DecisionsOn(chosen->trial);
  const auto kept = sweep.view.KeptOf(chosen->trial);
  if (!of_trial || !decisions) return Fail(of_trial ? decisions.error() : of_trial.error());
  if (!kept) return Fail(kept.error());
  std::vector<AttemptRow>& attempts = *of_trial;
  if (attempts.empty()) {  // the reason, as for a run of it
    return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (chosen->attempt && word.find('.') != std::string::npos) {
    std::erase_if(attempts, [&](const AttemptRow& row) { return row.attempt != *chosen->attempt; });
    if (attempts.empty()) return Fail(RunDirectoryOf(sweep.view, sweep.dir, *chosen).error());
  }
  if (!options.json) {
    PrintTrial(sweep, attempts, **kept, *decisions, chosen->trial);
    return PrintCurve(sweep, attempts, **kept, options);
  }
  const auto run_dir = RunDirectoryOf(sweep.view, sweep.dir, *chosen);
  if (!run_dir) return Fail(run_dir.error());
  nlohmann::json object = {{"format", 1},
                           {"sweep", sweep.file.sweep_id},
                           {"trial", chosen->trial},
                           {"run_dir", Readable(*run_dir)},
                           {"attempts", nlohmann::json::array()},
                           {"decisions", *decisions}};
  for (const AttemptRow& row : attempts) {
    const TrialFacts attempt(sweep, row);
    object["attempts"].push_back(attempt.Json(attempt.AttemptState()));
  }
  std::printf("%s\n", SerializedJson(object, 2).c_str());
  return {};
}

int RunShow(const ShowOptions& options) {
  const auto trial = SweepAndTrial(options.word);
  if (!trial && (!options.curve.empty() || options.log)) {
    return Refuse({Error("usage", {}, "--curve and --log draw one trial", "muster show SWEEP:best --log")});
  }
  const auto sweep = OpenSweep(trial ? trial->first : options.word);
  if (!sweep) return Refuse(sweep.error(), options.json);
  if (trial) {
    const auto shown = ShowTrial(*sweep, trial->second, options);
    return shown ? kExitOk : Refuse(shown.error(), options.json);
  }
  const auto shown = ShowSweep(*sweep, options.json);
  return shown ? kExitOk : Refuse(shown.error(), options.json);
}

}  // namespace

std::function<int()> SetupShow(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ShowOptions>();
  AddSweepArgument(app, options->word);
  app.get_option("SWEEP")->description(
      "path, name, name~1 or id prefix (default: the newest), or a trial: SWEEP:12, SWEEP:3f9a, SWEEP:best");
  auto* json = app.add_flag("--json", options->json, "print JSON for programs");
  app.add_option("--curve", options->curve, "of a trial: the metric to draw; default: the objective")
      ->type_name("METRIC")
      ->excludes(json);
  app.add_flag("--log", options->log, "draw it on a logarithmic axis")->excludes(json);
  return [options] { return RunShow(*options); };
}

}  // namespace muster
