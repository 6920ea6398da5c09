// The options for lists: --where, --columns and --sort, for runs and for trials of a sweep. Reads nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/lookup/run_conditions.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

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

}  // namespace muster
