// What of a list is shown: --where, --columns and --sort, for runs and for trials of a sweep. Reads nothing.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "cli/options/run_conditions.h"
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

  // All that it names.
  std::vector<std::string> Names() const;
};

Result<ListChoice> ReadListChoice(const std::vector<std::string>& where, const std::string& columns,
                                  const std::string& sort);

// Whether values `a` of the keys come before `b`.
bool KeysComeBefore(const std::vector<SortKey>& keys, const std::vector<Value>& a, const std::vector<Value>& b);

// A name that none of those listed has is a slip, and so is a condition that can be asked of none that has the value:
// it would only find nothing. `noun`: "run".
Diagnostic NoSuchColumn(const std::string& noun, const std::string& name, const std::set<std::string>& known);
Diagnostic CannotBeCompared(const RunCondition& condition, const Value& example);

// "TOOK" of "took".
std::vector<std::string> HeadOf(const std::vector<std::string>& columns);
// A value for a terminal: a time, a duration, or as it is.
std::string CellText(const std::string& column, const Value& value);

}  // namespace muster
