// muster ls: the runs there have been, and how each ended; chosen and sorted by what is known of them.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/shell_quote.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/recipe_list.h"
#include "cli/run_conditions.h"
#include "cli/run_facts.h"
#include "cli/run_list.h"
#include "run/json_text.h"

namespace muster {
namespace {

struct Options {
  std::vector<std::string> folders;
  std::vector<std::string> where;
  std::string columns;
  std::string sort;
  bool json = false;
  bool recipes = false;
};

struct SortKey {
  std::string name;
  bool descending = false;
};

// What the user asked for.
struct Choice {
  std::vector<RunCondition> conditions;
  std::vector<std::string> columns;  // empty: the usual ones
  std::vector<SortKey> keys;

  std::vector<std::string> Names() const {
    std::vector<std::string> names = columns;
    for (const RunCondition& condition : conditions) names.push_back(condition.name);
    for (const SortKey& key : keys) names.push_back(key.name);
    return names;
  }
};

std::vector<std::string> Parts(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return parts;
}

Result<Choice> ReadChoice(const Options& options) {
  Choice choice;
  for (const std::string& text : options.where) {
    auto conditions = ParseConditions(text);
    if (!conditions) return Fail(conditions.error());
    choice.conditions.insert(choice.conditions.end(), conditions->begin(), conditions->end());
  }
  choice.columns = Parts(options.columns);
  for (const std::string& part : Parts(options.sort)) {
    const bool descending = part.starts_with('-');
    choice.keys.push_back({descending ? part.substr(1) : part, descending});
  }
  return choice;
}

// A name that no run has is a slip. Where there is no run, there is nothing to be found out.
Result<void> CheckNames(const Choice& choice, std::vector<RunFacts>& runs) {
  if (runs.empty()) return {};
  for (const std::string& name : choice.Names()) {
    if (std::any_of(runs.begin(), runs.end(), [&](RunFacts& run) { return run.Has(name); })) continue;
    std::set<std::string> known;
    for (RunFacts& run : runs) run.AddNames(known);
    return Fail(Error("column", {}, fmt::format("no run has a value {}", Quoted(name)),
                      DidYouMean(name, std::vector<std::string>(known.begin(), known.end()))));
  }
  return {};
}

std::vector<RunFacts> Sorted(const std::vector<SortKey>& keys, std::vector<RunFacts> runs) {
  struct Keyed {
    std::vector<Value> values;  // of the keys
    std::size_t run = 0;
  };
  std::vector<Keyed> order;
  for (RunFacts& run : runs) {
    Keyed& keyed = order.emplace_back();
    keyed.run = order.size() - 1;
    for (const SortKey& key : keys) keyed.values.push_back(run.Of(key.name));
  }
  std::stable_sort(order.begin(), order.end(), [&](const Keyed& a, const Keyed& b) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Value& of_a = a.values[i];
      const Value& of_b = b.values[i];
      const bool backward = keys[i].descending && !of_a.IsNull() && !of_b.IsNull();
      if (backward ? ComesBefore(of_b, of_a) : ComesBefore(of_a, of_b)) return true;
      if (backward ? ComesBefore(of_a, of_b) : ComesBefore(of_b, of_a)) return false;
    }
    return false;
  });
  std::vector<RunFacts> sorted;
  for (const Keyed& keyed : order) sorted.push_back(std::move(runs[keyed.run]));
  return sorted;
}

std::string Cell(const std::string& column, const Value& value) {
  if (value.IsNull()) return {};
  if (column == "took" && value.IsNumber()) return DurationText(value.Number());
  if (value.AsString() == nullptr) return Printable(ToText(value));
  return column == "started" ? TimeText(*value.AsString()) : Printable(*value.AsString());
}

void PrintColumns(const std::vector<std::string>& columns, std::vector<RunFacts>& runs) {
  std::vector<std::vector<std::string>> rows(1);
  for (const std::string& column : columns) {
    std::string head = column;
    std::transform(head.begin(), head.end(), head.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    rows.front().push_back(Printable(head));
  }
  for (RunFacts& run : runs) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& column : columns) row.push_back(Cell(column, run.Of(column)));
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

int Refuse(const Options& options, const Diagnostics& problems) {
  if (options.json) std::fputs(DiagnosticsJson(problems).c_str(), stdout);
  PrintDiagnostics(problems);
  return ExitCodeFor(problems);
}

int Run(const Options& options) {
  if (options.recipes) return ShowRecipes(options.json);
  const auto choice = ReadChoice(options);
  if (!choice) return Refuse(options, choice.error());
  auto listed = ListRuns(options.folders, false, false);
  if (!listed) return Refuse(options, listed.error());
  std::vector<RunFacts> runs;
  for (RunSummary& run : *listed) runs.emplace_back(std::move(run));
  if (auto known = CheckNames(*choice, runs); !known) return Refuse(options, known.error());
  std::erase_if(runs, [&](RunFacts& run) {
    return !std::all_of(choice->conditions.begin(), choice->conditions.end(), [&](const RunCondition& condition) {
      return Holds(condition, [&](const std::string& name) { return run.Of(name); });
    });
  });
  runs = Sorted(choice->keys, std::move(runs));
  if (options.json) {
    PrintJson(choice->columns, runs);
  } else if (choice->columns.empty()) {
    PrintUsual(runs);
  } else {
    PrintColumns(choice->columns, runs);
  }
  return kExitOk;
}

}  // namespace

std::function<int()> SetupLs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<Options>();
  AddFoldersArgument(app, options->folders);
  app.add_option("--where", options->where,
                 "only runs of which this holds: NAME OP VALUE, joined by and. NAME is a column; OP is == != < <= > >= "
                 "or ~ (a regular expression); NAME alone: it has that tag or value")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  app.add_option("--columns", options->columns,
                 "these instead: name, id, started, took, outcome, exit, why, plan, dir, tags; parameters, derived "
                 "values, tags and metrics by their names")
      ->type_name("NAME,…");
  app.add_option("--sort", options->sort, "by these columns; -NAME: the greatest first")->type_name("[-]NAME,…");
  app.add_flag("--json", options->json, "print JSON for programs");
  app.add_flag("--recipes", options->recipes,
               "the recipes that there are to run instead: muster's own, those here, libraries")
      ->excludes(app.get_option("FOLDERS"))
      ->excludes("--where")
      ->excludes("--columns")
      ->excludes("--sort");
  return [options] { return Run(*options); };
}

}  // namespace muster
