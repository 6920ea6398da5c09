// Lists of runs: which runs there are, conditions on their properties (--where: `NAME OP VALUE`, or NAME alone,
// joined by "and"), columns and sorting, and their output as a table or as JSON. Conditions, columns and sorting hold
// for trials of sweeps, too. Expressions are searched with RE2, in linear time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "muster/value.h"
#include "run/journal/run_summary.h"
#include "wire/archive/json_fields.h"

namespace muster {

// Searches lines with a regular expression in linear time, with
// RE2.

// Returns a function that tests whether a line (its bytes as written) matches the expression,
// https://github.com/google/re2/wiki/Syntax. Fails with kind "regex". Uses at most 2 MiB.
Result<std::function<bool(std::string_view line)>> LineSearch(const std::string& expression);

// --where: conditions on properties of a run. `NAME OP VALUE`, or NAME alone, joined by "and"; no "or", no brackets, no
// expressions. Pure.

struct RunCondition {
  // kSet: there is a value, and it is neither false nor null.
  enum class Op : std::uint8_t { kSet, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast, kMatches };
  std::string name;
  Op op = Op::kSet;
  Value value;
  std::function<bool(std::string_view text)> matches;  // kMatches: whether the expression matches the value's text
};

// Names are words, or "…" or '…' with any characters. Values are "…" or '…', true, false, numbers, or any other word;
// operators are == (or =) != < <= > >= ~. Kind "where".
Result<std::vector<RunCondition>> ParseConditions(std::string_view text);

// Null if a run has no such value.
using RunValue = std::function<Value(const std::string& name)>;

// For a list the condition holds if it holds for one element, != if it holds for all. Numbers are compared as numbers,
// texts byte by byte; compared with a number, a duration ("5m") is a number of seconds and a size ("30GiB") one of
// bytes. Missing and incomparable values satisfy only !=.
bool Holds(const RunCondition& condition, const RunValue& value);

// Whether the condition is meaningful for that value, which exists: no number is less than a word. Any value may be
// compared for equality with text.
bool CanBeAsked(const RunCondition& condition, const Value& value);

// Whether `a` comes before `b`: numbers before texts, missing values last.
bool ComesBefore(const Value& a, const Value& b);

// The options for lists: --where, --columns and --sort, for runs and for trials of a sweep. Reads nothing.

struct SortKey {
  std::string name;
  bool descending = false;
};

struct ListChoice {
  std::vector<RunCondition> conditions;
  std::vector<std::string> columns;  // empty: the usual ones
  std::vector<SortKey> keys;

  // All names that it uses.
  std::vector<std::string> Names() const;
};

// Adds --where. `rows`: "runs".
void AddWhereOption(CLI::App& app, std::vector<std::string>& where, const std::string& rows);

Result<ListChoice> ReadListChoice(const std::vector<std::string>& where, const std::string& columns,
                                  const std::string& sort);

// Whether values `a` of the keys come before `b`.
bool KeysComeBefore(const std::vector<SortKey>& keys, const std::vector<Value>& a, const std::vector<Value>& b);

// The diagnostic for a name that no listed run has, or a condition that fits no value: it would silently find nothing.
// `noun`: "run".
Diagnostic NoSuchColumn(const std::string& noun, const std::string& name, const std::set<std::string>& known);
Diagnostic CannotBeCompared(const RunCondition& condition, const Value& example);

// "TOOK" of "took".
std::vector<std::string> HeadOf(const std::vector<std::string>& columns);
// Formats a value for a terminal: times, durations, others unchanged.
std::string CellText(const std::string& column, const Value& value);

// The lists of runs of ps and ls.

// Adds [FOLDER …].
void AddFoldersArgument(CLI::App& app, std::vector<std::string>& folders);

// Whether the journal of a run or a sweep exists there.
bool HasJournal(const std::string& directory);

struct RunList {
  std::vector<RunSummary> runs;  // newest first
  Diagnostics unreadable;        // an error for each that cannot be read
};

// The runs of these folders, each a runs folder or a run directory; by default those below $MUSTER_HOME or the current
// folder. Ignores folders without a journal, or with an empty one. `counted` as in SummarizeRun; with `live_only` other
// runs are not read.
Result<RunList> ListRuns(const std::vector<std::string>& folders, bool live_only, bool counted);

// "2026-11-20 12:06:16Z"
std::string TimeText(const std::string& utc);

// Prints columns in their natural width, the last one unpadded; on a terminal the widest are cut, "…", until a row
// fits. The first row is the head.
void PrintTable(const std::vector<std::vector<std::string>>& rows);

// Prints the errors, and returns the command's exit code.
int ExitListed(const Diagnostics& unreadable);

// A run as it is printed as JSON, members in the order of their names.
struct PrintedRun {
  RunSummary run;
  bool counted = false;                                           // as in SummarizeRun
  std::optional<Value::Map> columns = {};                         // those that were asked for
  std::optional<std::map<std::string, Value::Map>> metrics = {};  // by role
};
// A trial of a sweep has more.
struct PrintedTrialRun {
  PrintedRun of;
  std::uint64_t trial = 0;
  std::uint64_t attempt = 1;  // from 1
  Value::Map point = {};
};
template <class V>
void RunParts(V& v, const PrintedRun& printed, const PrintedTrialRun* trial) {
  const RunSummary& run = printed.run;
  if (trial != nullptr) v("attempt", trial->attempt);
  v("columns", OnlyIf(printed.columns.has_value(), printed.columns));
  v("drill", run.drill);
  if (printed.counted) v("ended", run.ended);
  v("exit_code", run.outcome == "running" ? std::nullopt : std::optional(run.exit_code));
  if (printed.metrics) v("metrics", *printed.metrics);
  v("name", run.name), v("outcome", run.outcome);
  if (printed.counted) v("phase", run.phase);
  v("pid", run.pid), v("plan", run.plan);
  if (trial != nullptr) v("point", trial->point);
  v("rehearsal", run.rehearsal);
  if (printed.counted) v("restarts", run.restarts);
  v("run", run.run), v("run_dir", run.run_dir);
  if (printed.counted) v("running", run.running);
  v("seconds", run.seconds), v("started_at", run.started_at);
  if (trial != nullptr) v("trial", trial->trial);
  if (printed.counted) v("waits", As<UnlessNone>(run.waits));
  v("why", As<NullIfNone>(run.why));
}
template <class V>
void Parts(V& v, const PrintedRun& printed) {
  RunParts(v, printed, nullptr);
}
template <class V>
void Parts(V& v, const PrintedTrialRun& printed) {
  RunParts(v, printed.of, &printed);
}

// {"format": 1, "runs": […]}
void PrintRunsJson(std::vector<PrintedRun> runs);

}  // namespace muster
