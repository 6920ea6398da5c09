#include "cli/sweeps/trial_table.h"

#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "cli/lookup/trial_conditions.h"
#include "settings/values/value_json.h"
#include "sweep/index/database.h"
#include "sweep/index/statement.h"

namespace muster {
namespace {

struct Column {
  std::string head;
  std::string name;  // of TrialFacts::Of
};

Result<std::vector<Column>> ColumnsOf(const OpenedSweep& sweep, const TableChoice& choice) {
  std::set<std::string> params(sweep.file.names.begin(), sweep.file.names.end());
  std::set<std::string> metrics;
  auto read = ForEachRow(sweep, choice, [&](const TrialFacts& trial) {
    for (const auto& [name, unused] : trial.row().point) params.insert(name);
    for (const auto& [name, unused] : trial.row().metrics) metrics.insert(name);
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  std::vector<Column> columns;
  for (const std::string& name : TrialFacts::LineNames()) columns.push_back({name, name});
  for (const std::string& name : params) columns.push_back({"param." + name, "param." + name});
  for (const std::string& name : metrics) columns.push_back({"metric." + name, "metric." + name});
  return columns;
}

// `attempts`: the rows are attempts, not trials.
Value CellOf(const TrialFacts& trial, const std::string& name, bool attempts) {
  if (attempts && name == "state") return Value(trial.AttemptState());
  return trial.Of(name);
}

std::string QuotedName(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void Bind(Statement& statement, int parameter, const Value& value) {
  if (value.IsNull()) {
    statement.BindNull(parameter);
  } else if (const std::int64_t* whole = value.AsInt()) {
    statement.Bind(parameter, *whole);
  } else if (const double* number = value.AsDouble()) {
    statement.Bind(parameter, *number);
  } else if (const bool* truth = value.AsBool()) {
    statement.Bind(parameter, *truth);
  } else {
    statement.Bind(parameter, Readable(CsvText(value)));
  }
}

}  // namespace

Result<void> ForEachRow(const OpenedSweep& sweep, const TableChoice& choice,
                        const std::function<bool(const TrialFacts&)>& take) {
  TrialConditions where(choice.where);
  bool all = true;
  const auto one = [&](AttemptRow row) {
    const TrialFacts trial(sweep, std::move(row));
    return all = !where.HoldFor(trial) || take(trial);
  };
  auto read =
      choice.attempts ? sweep.view.ForEachAttempt(one) : sweep.view.ForEachTrial(SweepView::Order::kNumber, one);
  if (!read || !all) return read;
  return where.Check();
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

std::string CsvText(const Value& value) {
  if (value.IsNull()) return {};
  if (value.AsString() != nullptr) return *value.AsString();
  if (const double* number = value.AsDouble()) return NumberText(*number);
  return JsonText(value);
}

std::string TableRows::Head() const {
  if (form != TableChoice::Form::kCsv) return {};
  std::string line;
  for (const std::string& head : heads) line += (line.empty() ? "" : ",") + CsvField(head);
  return line + "\r\n";
}

std::string TableRows::Row(const std::vector<Value>& cells) const {
  if (form == TableChoice::Form::kCsv) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + CsvField(CsvText(cells[i]));
    return line + "\r\n";
  }
  nlohmann::ordered_json json;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double* number = cells[i].AsDouble();
    const bool known = number == nullptr || std::isfinite(*number);  // JSON has no others
    json[Readable(heads[i])] = nlohmann::ordered_json::parse(known ? JsonText(cells[i]) : "null");
  }
  return SerializedJson(json) + "\n";
}

Result<void> WriteTable(const OpenedSweep& sweep, const TableChoice& choice,
                        const std::function<bool(std::string_view bytes)>& put) {
  const auto known = ColumnsOf(sweep, choice);
  if (!known) return Fail(known.error());
  const std::vector<Column>& columns = *known;
  TableRows rows{choice.form, {}};
  for (const Column& column : columns) rows.heads.push_back(column.head);
  if (const std::string head = rows.Head(); !head.empty() && !put(head)) return {};
  return ForEachRow(sweep, choice, [&](const TrialFacts& trial) {
    std::vector<Value> cells;
    cells.reserve(columns.size());
    for (const Column& column : columns) cells.push_back(CellOf(trial, column.name, choice.attempts));
    return put(rows.Row(cells));
  });
}

Result<void> WriteDatabase(const OpenedSweep& sweep, const TableChoice& choice, const std::string& path) {
  auto database = Database::Open(path, Database::Mode::kWrite);
  if (!database) return Fail(database.error());
  const auto refuse = [&] {
    return Fail(MachineError("database", fmt::format("cannot write {}: {}", Quoted(path), database->Problem())));
  };
  // Column names must be unique, ignoring case in SQLite.
  std::vector<Column> columns;
  std::set<std::string> taken;
  auto known = ColumnsOf(sweep, choice);
  if (!known) return Fail(std::move(known.error()));
  for (Column& column : *known) {
    std::string low = column.head;
    for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (int n = 2; !taken.insert(low).second; ++n) {
      column.head += fmt::format("_{}", n);
      low += fmt::format("_{}", n);
    }
    columns.push_back(std::move(column));
  }
  std::string names, marks;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    names += (names.empty() ? "" : ", ") + QuotedName(Readable(columns[i].head));
    marks += fmt::format("{}?{}", i == 0 ? "" : ", ", i + 1);
  }
  const std::string tables = fmt::format(
      "PRAGMA synchronous = OFF; BEGIN; CREATE TABLE trials ({}); "
      "CREATE TABLE impossible (reason TEXT, place TEXT, trials INTEGER);",
      names);
  if (!database->Run(tables.c_str())) return refuse();
  {
    Statement insert = database->Prepare(("INSERT INTO trials VALUES (" + marks + ")").c_str());
    bool written = true;
    auto read = ForEachRow(sweep, choice, [&](const TrialFacts& trial) {
      int parameter = 0;
      for (const Column& column : columns) Bind(insert, ++parameter, CellOf(trial, column.name, choice.attempts));
      return written = insert.Run();
    });
    const auto reasons = sweep.view.Reasons();
    if (!read || !reasons) return Fail(read ? reasons.error() : read.error());
    Statement reason = database->Prepare("INSERT INTO impossible VALUES (?1, ?2, ?3)");
    for (const SweepView::Reason& one : *reasons) {
      written = written && reason.Bind(1, one.text).Bind(2, one.place).Bind(3, one.count).Run();
    }
    if (!written) return refuse();
  }
  if (!database->Run("COMMIT")) return refuse();
  return {};
}

}  // namespace muster
