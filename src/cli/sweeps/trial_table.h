// Exports the trials of a sweep as a table: CSV (RFC 4180), JSON lines, an SQLite database.
//
// Columns: those of the trial (TrialFacts::LineNames), then param.NAME for each swept name and metric.NAME for each
// metric, sorted; the same for every row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lookup/run_conditions.h"
#include "cli/lookup/trial_facts.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// A CSV field: quoted if it contains a comma, a quote or a line break.
std::string CsvField(std::string_view text);
// Texts unquoted, nothing for null, lists and maps as JSON.
std::string CsvText(const Value& value);

struct TableChoice {
  enum class Form : std::uint8_t { kCsv, kJsonLines, kSqlite };
  Form form = Form::kCsv;
  bool attempts = false;                 // all attempts, not only the one that each trial keeps
  std::vector<RunCondition> where = {};  // only rows for which these hold
};

// Passes the rows of the table until `take` returns false. Fails, after all of them, if the conditions make no sense
// for any.
[[nodiscard]] Result<void> ForEachRow(const OpenedSweep& sweep, const TableChoice& choice,
                                      const std::function<bool(const TrialFacts&)>& take);

// The lines of a table in a form that is one of texts.
struct TableRows {
  TableChoice::Form form;
  std::vector<std::string> heads;

  // The first line; empty for JSON lines.
  std::string Head() const;
  // `cells`: as many as there are heads.
  std::string Row(const std::vector<Value>& cells) const;
};

// Passes rows to `put` one by one, which returns false to stop.
[[nodiscard]] Result<void> WriteTable(const OpenedSweep& sweep, const TableChoice& choice,
                                      const std::function<bool(std::string_view bytes)>& put);

// Creates a database at `path`, which must not exist: the table "trials" with these columns, and "impossible".
Result<void> WriteDatabase(const OpenedSweep& sweep, const TableChoice& choice, const std::string& path);

}  // namespace muster
