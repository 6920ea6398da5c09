// The trials of a sweep as a table for other programs: CSV (RFC 4180), JSON lines, a database of SQLite.
//
// Columns: those of the trial (TrialFacts::LineNames), then param.NAME for each swept name and metric.NAME for each
// metric, sorted; the same ones for every row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/trial_facts.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// A field as CSV has it: in quotes if a comma, a quote or the end of a line is in it.
std::string CsvField(std::string_view text);
// Texts as they are, nothing for null, lists and maps as JSON.
std::string CsvText(const Value& value);

struct TableChoice {
  enum class Form : std::uint8_t { kCsv, kJsonLines, kSqlite };
  Form form = Form::kCsv;
  bool attempts = false;  // all of them, not only the last of each trial
};

// Rows are handed over one by one; `put` says false to end it.
[[nodiscard]] Result<void> WriteTable(const OpenedSweep& sweep, const TableChoice& choice,
                                      const std::function<bool(std::string_view bytes)>& put);

// A database of its own at `path`, where nothing may be: the table "trials" of these columns, and "impossible".
Result<void> WriteDatabase(const OpenedSweep& sweep, bool attempts, const std::string& path);

}  // namespace muster
