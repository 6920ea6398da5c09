// muster ls: lists runs and their outcomes; filtered and sorted by their properties.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/list_choice.h"
#include "cli/lookup/recipe_list.h"
#include "cli/lookup/run_conditions.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "cli/runs/run_commands.h"
#include "cli/runs/sweep_comparison.h"
#include "cli/runs/trial_list.h"

namespace muster {
namespace {

struct LsOptions {
  std::vector<std::string> folders;
  std::vector<std::string> where;
  std::string columns;
  std::string sort;
  std::optional<std::uint64_t> limit;
  bool json = false;
  bool recipes = false;
  bool sweeps = false;
};

// A name that no run has is reported as a mistake, unless there are no runs at all.
Result<void> CheckNames(const ListChoice& choice, std::vector<RunFacts>& runs) {
  if (runs.empty()) return {};
  for (const std::string& name : choice.Names()) {
    if (std::any_of(runs.begin(), runs.end(), [&](RunFacts& run) { return run.Has(name); })) continue;
    std::set<std::string> known;
    for (RunFacts& run : runs) run.AddNames(known);
    return Fail(NoSuchColumn("run", name, known));
  }
  return {};
}

// A condition that fits the values of no run is reported as a mistake, too: it would silently find nothing.
Result<void> CheckConditions(const ListChoice& choice, std::vector<RunFacts>& runs) {
  for (const RunCondition& condition : choice.conditions) {
    Value example;
    bool asked = false;
    for (RunFacts& run : runs) {
      const Value value = run.Of(condition.name);
      if (value.IsNull()) continue;
      asked = CanBeAsked(condition, value);
      if (asked) break;
      example = value;
    }
    if (asked || example.IsNull()) continue;
    return Fail(CannotBeCompared(condition, example));
  }
  return {};
}

std::vector<RunFacts> Sorted(const std::vector<SortKey>& keys, std::vector<RunFacts> runs) {
  struct Keyed {
    std::vector<Value> values;  // values of the sort keys
    std::size_t run = 0;
  };
  std::vector<Keyed> order;
  for (RunFacts& run : runs) {
    Keyed& keyed = order.emplace_back();
    keyed.run = order.size() - 1;
    for (const SortKey& key : keys) keyed.values.push_back(run.Of(key.name));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const Keyed& a, const Keyed& b) { return KeysComeBefore(keys, a.values, b.values); });
  std::vector<RunFacts> sorted;
  for (const Keyed& keyed : order) sorted.push_back(std::move(runs[keyed.run]));
  return sorted;
}

void PrintColumns(const std::vector<std::string>& columns, std::vector<RunFacts>& runs) {
  std::vector<std::vector<std::string>> rows = {HeadOf(columns)};
  for (RunFacts& run : runs) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& column : columns) row.push_back(CellText(column, run.Of(column)));
  }
  PrintTable(rows);
}

void PrintUsual(const std::vector<RunFacts>& runs) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "RUN", "STARTED", "TOOK", "OUTCOME", "EXIT", "WHY"}};
  for (const RunFacts& facts : runs) {
    const RunSummary& run = facts.summary();
    const bool running = run.outcome == "running";
    rows.push_back({Printable(run.name) + (run.rehearsal ? " (rehearsal)" : ""), Printable(run.run),
                    TimeText(run.started_at), running ? "" : DurationText(run.seconds), run.outcome,
                    running ? "" : std::to_string(run.exit_code), Printable(run.why)});
  }
  PrintTable(rows);
}

void PrintJson(const std::vector<std::string>& columns, std::vector<RunFacts>& runs) {
  std::vector<RunSummary> summaries;
  std::vector<std::string> values;
  for (RunFacts& run : runs) {
    summaries.push_back(run.summary());
    Value::Map map;
    for (const std::string& column : columns) map[column] = run.Of(column);
    values.push_back(columns.empty() ? "" : JsonText(Value(std::move(map))));
  }
  PrintRunsJson(summaries, false, values);
}

// Reports an empty result on stderr, so that the table or JSON on stdout stays valid.
int ReportNoMatch(const LsOptions& options, const std::string& what) {
  const bool asked = !options.folders.empty() || !options.where.empty();
  std::string text = "no " + what;
  if (!options.where.empty()) text += " for which the condition holds";
  const char* separator = " in ";
  for (const std::string& folder : options.folders) {
    text += separator + Quoted(folder);
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) text += " (no such folder)";
    separator = ", ";
  }
  std::fprintf(stderr, "muster: %s\n", PrintableLines(text).c_str());
  return asked ? kExitNothing : kExitOk;
}

int Compare(const LsOptions& options, const ListChoice& choice, const std::vector<std::string>& sweeps) {
  if (!choice.conditions.empty() || !choice.columns.empty() || !choice.keys.empty()) {
    return Refuse({Error("usage", {}, "--where, --columns and --sort are for the trials of one sweep",
                         "muster ls SWEEP SWEEP compares sweeps as they are")},
                  options.json);
  }
  const auto compared = CompareSweeps(sweeps, options.limit, options.json);
  return compared ? kExitOk : Refuse(compared.error(), options.json);
}

int RunLs(const LsOptions& options) {
  if (options.recipes) return ShowRecipes(options.json);
  const auto choice = ReadListChoice(options.where, options.columns, options.sort);
  if (!choice) return Refuse(choice.error(), options.json);
  if (options.sweeps) {
    const auto unreadable = ListSweeps(options.json, true);
    return unreadable ? ExitListed(*unreadable) : Refuse(unreadable.error(), options.json);
  }
  if (const auto sweep = SweepMeant(options.folders)) {
    const auto trials = ListTrials(*sweep, *choice, options.limit, options.json);
    if (!trials) return Refuse(trials.error(), options.json);
    return *trials > 0 ? kExitOk : ReportNoMatch(options, "trial");
  }
  const auto sweeps = SweepsMeant(options.folders);
  if (!sweeps) return Refuse(sweeps.error(), options.json);
  if (!sweeps->empty()) return Compare(options, *choice, *sweeps);
  auto listed = ListRuns(options.folders, false, false);
  if (!listed) return Refuse(listed.error(), options.json);
  std::vector<RunFacts> runs;
  for (RunSummary& run : listed->runs) runs.emplace_back(std::move(run));
  if (auto known = CheckNames(*choice, runs); !known) return Refuse(known.error(), options.json);
  if (auto sound = CheckConditions(*choice, runs); !sound) return Refuse(sound.error(), options.json);
  std::erase_if(runs, [&](RunFacts& run) {
    return !std::all_of(choice->conditions.begin(), choice->conditions.end(), [&](const RunCondition& condition) {
      return Holds(condition, [&](const std::string& name) { return run.Of(name); });
    });
  });
  runs = Sorted(choice->keys, std::move(runs));
  const bool all = !options.limit && options.folders.empty() && choice->Names().empty();
  if (options.limit && runs.size() > *options.limit)
    runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(*options.limit), runs.end());
  Diagnostics& unreadable = listed->unreadable;
  if (options.json) {
    PrintJson(choice->columns, runs);
  } else if (!runs.empty()) {
    choice->columns.empty() ? PrintUsual(runs) : PrintColumns(choice->columns, runs);
  }
  if (all && !options.json) {
    const auto after = ListSweeps(false, false);
    if (!after) return Refuse(after.error(), options.json);
    unreadable.insert(unreadable.end(), after->begin(), after->end());
  }
  return runs.empty() && unreadable.empty() ? ReportNoMatch(options, "run") : ExitListed(unreadable);
}

}  // namespace

std::function<int()> SetupLs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<LsOptions>();
  AddFoldersArgument(app, options->folders);
  app.get_option("FOLDERS")->description(
      "folders of runs, or run directories; default: $MUSTER_HOME/runs or ./runs. A SWEEP: its trials; several: "
      "compare "
      "them");
  AddWhereOption(app, options->where, "runs");
  app.add_option("--columns", options->columns,
                 "columns to show: name, id, started, took, outcome, exit, why, plan, dir, tags, note; parameters, "
                 "derived values, tags and metrics by their names")
      ->type_name("NAME,…");
  app.add_option("--sort", options->sort, "sort by these columns; -NAME: descending")->type_name("[-]NAME,…");
  app.add_option("-n,--limit", options->limit, "only the first N")->type_name("N");
  app.add_flag("--json", options->json, "print JSON for programs");
  app.add_flag("--recipes", options->recipes, "list recipes instead: built-in ones, those here, libraries")
      ->excludes(app.get_option("FOLDERS"))
      ->excludes("--where")
      ->excludes("--columns")
      ->excludes("--sort");
  app.add_flag("--sweeps", options->sweeps, "list sweeps instead; muster ls SWEEP lists its trials")
      ->excludes(app.get_option("FOLDERS"))
      ->excludes("--where")
      ->excludes("--columns")
      ->excludes("--sort")
      ->excludes("--limit")
      ->excludes("--recipes");
  return [options] { return RunLs(*options); };
}

}  // namespace muster
