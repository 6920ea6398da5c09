// muster export: writes the trials of a sweep, or the metrics of a run, for other programs: as a table of trials (CSV
// of RFC 4180, JSON lines, an SQLite database), as a table of curves, or as event files of TensorBoard.
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "metrics/metric_history.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_metrics.h"
#include "run/journal/run_summary.h"
#include "sweep/index/database.h"
#include "tensorboard/event_file.h"

namespace muster {
namespace {

// Exports the trials of a sweep as a table: CSV (RFC 4180), JSON lines, an SQLite database.
//
// Columns: those of the trial (TrialFacts::LineNames), then param.NAME for each swept name and metric.NAME for each
// metric, sorted; the same for every row.

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

// A CSV field: quoted if it contains a comma, a quote or a line break.
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

// Creates a database at `path`, which must not exist: the table "trials" with these columns, and "impossible".
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
      written = written && reason.Run(one.text, one.place, one.count);
    }
    if (!written) return refuse();
  }
  if (!database->Run("COMMIT")) return refuse();
  return {};
}

// Exports the curves of a sweep's trials, or of a run, as a table: a row for each report of a process.
//
// Columns: trial and id (of a sweep), role, index and report (from 1), then param.NAME for each parameter and
// metric.NAME for each metric that is a number; the same for every row. A value that is not finite is nan, in JSON
// null.

// Passes rows to `put` one by one, which returns false to stop. The curve of a trial is that of the attempt that it
// keeps, with those that this one continues; of a role that of its first process that reported anything. Fails as
// FindRunOrSweep (cli/lookup/run_argument.h), if rows of the sweep cannot be read, and for conditions of a run.
[[nodiscard]] Result<void> WriteCurves(const std::string& run_or_sweep, const TableChoice& choice,
                                       const std::function<bool(std::string_view bytes)>& put);

// A run, or a trial with its number and id.
struct Curves {
  std::vector<Value> head;
  Value::Map parameters;
  std::vector<ProcessHistory> processes;
};
using TakeCurves = std::function<bool(const Curves&)>;
using ForEachCurves = std::function<Result<void>(const TakeCurves&)>;

Curves CurvesOfTrial(const OpenedSweep& sweep, const TrialFacts& trial) {
  return {{trial.Of("trial"), trial.Of("id")},
          trial.row().point,
          ReadContinuedHistory(trial.RunDirs(), sweep.file.metrics, sweep.file.resource, !trial.row().ended.empty())};
}

struct CurveColumns {
  std::set<std::string> parameters;
  std::set<std::string> metrics;
};

// `heads`: of Curves::head.
TableRows CurveRowsOf(const CurveColumns& columns, std::vector<std::string> heads, TableChoice::Form form) {
  heads.insert(heads.end(), {"role", "index", "report"});
  for (const std::string& name : columns.parameters) heads.push_back("param." + name);
  for (const std::string& name : columns.metrics) heads.push_back("metric." + name);
  return {form, std::move(heads)};
}

// A whole number is one in every format.
Value ReportedNumber(double number) {
  constexpr double kExact = 1LL << 53;
  const bool whole =
      number >= -kExact && number <= kExact && number == static_cast<double>(static_cast<std::int64_t>(number));
  return whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
}

// The rows of one process; false if `put` stopped.
bool PutProcess(const Curves& curves, const ProcessHistory& process, const CurveColumns& columns, const TableRows& rows,
                const std::function<bool(std::string_view bytes)>& put) {
  std::vector<Value> cells = curves.head;
  cells.push_back(process.role.empty() ? Value() : Value(process.role));
  cells.push_back(process.role.empty() ? Value() : Value(std::int64_t{process.index}));
  const std::size_t report_at = cells.size();
  cells.emplace_back();
  for (const std::string& name : columns.parameters) {
    const auto value = curves.parameters.find(name);
    cells.push_back(value == curves.parameters.end() ? Value() : value->second);
  }
  struct Metric {
    const MetricColumn* column;  // null: never reported
    std::size_t next = 0;
  };
  std::vector<Metric> metrics;
  for (const std::string& name : columns.metrics) {
    const auto column = process.history.columns.find(name);
    metrics.push_back({column == process.history.columns.end() ? nullptr : &column->second});
  }
  const std::size_t metrics_at = cells.size();
  cells.resize(metrics_at + metrics.size());
  for (std::uint32_t report = 0; report < process.history.reports; ++report) {
    cells[report_at] = Value(std::int64_t{report} + 1);
    bool any = false;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      Metric& metric = metrics[i];
      const bool has = metric.column != nullptr && metric.next < metric.column->reports.size() &&
                       metric.column->reports[metric.next] == report;
      cells[metrics_at + i] = has ? ReportedNumber(metric.column->values[metric.next++]) : Value();
      any = any || has;
    }
    if (any && !put(rows.Row(cells))) return false;
  }
  return true;
}

Result<void> WriteEach(const ForEachCurves& for_each, CurveColumns columns, std::vector<std::string> heads,
                       TableChoice::Form form, const std::function<bool(std::string_view bytes)>& put) {
  auto known = for_each([&](const Curves& curves) {
    for (const auto& [name, unused] : curves.parameters) columns.parameters.insert(name);
    for (const ProcessHistory& process : curves.processes) {
      for (const auto& [name, unused] : process.history.columns) columns.metrics.insert(name);
    }
    return true;
  });
  if (!known) return known;
  const TableRows rows = CurveRowsOf(columns, std::move(heads), form);
  if (const std::string head = rows.Head(); !head.empty() && !put(head)) return {};
  return for_each([&](const Curves& curves) {
    for (const ProcessHistory& process : curves.processes) {
      if (!PutProcess(curves, process, columns, rows, put)) return false;
    }
    return true;
  });
}

Result<void> WriteCurves(const std::string& run_or_sweep, const TableChoice& choice,
                         const std::function<bool(std::string_view bytes)>& put) {
  const auto found = FindRunOrSweep(run_or_sweep, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Fail(found.error());
  if (!found->is_sweep) {
    if (!choice.where.empty()) {
      return Fail(Error("usage", {}, "--where chooses trials of a sweep, and this is a run", "muster export SWEEP"));
    }
    auto summary = SummarizeRun(found->folder, false);
    if (!summary) return Fail(summary.error());
    const bool over = summary->outcome != "running";
    RunFacts facts(*std::move(summary));
    Curves curves{{}, facts.Parameters(), ReadRoleHistories(found->folder)};
    if (auto log = ReadOwnLogHistory(found->folder, over, curves.processes))
      curves.processes.push_back(*std::move(log));
    const ForEachCurves one = [&](const TakeCurves& take) -> Result<void> {
      take(curves);
      return {};
    };
    return WriteEach(one, {}, {}, choice.form, put);
  }
  const auto sweep = OpenSweepAt(found->folder);
  if (!sweep) return Fail(sweep.error());
  const ForEachCurves trials = [&](const TakeCurves& take) {
    return ForEachRow(*sweep, choice, [&](const TrialFacts& trial) { return take(CurvesOfTrial(*sweep, trial)); });
  };
  return WriteEach(trials, {{sweep->file.names.begin(), sweep->file.names.end()}, {}}, {"trial", "id"}, choice.form,
                   put);
}

// muster export --tensorboard: writes event files of a run, or of all trials of a sweep.

struct TensorboardExport {
  std::string folder;         // that has a folder for each run or trial
  std::uint64_t runs = 0;     // for which a file was written
  std::uint64_t scalars = 0;  // in all of them
};

namespace fs = std::filesystem;

constexpr char kFileName[] = "events.out.tfevents.muster";  // the same each time, so that it can be replaced
constexpr std::size_t kBlockBytes = 1U << 16;

double SecondsOf(const std::string& utc) { return InSeconds(ParseUtc(utc).value_or(0)); }

// Written beside it first and renamed, so that an incomplete file replaces nothing.
Result<WrittenEvents> WriteFile(const RunForTensorboard& run, const std::string& folder) {
  std::error_code error;
  const std::string path = folder + "/" + kFileName;
  const auto failed = [&](int number) { return Fail(SystemError("file", "cannot write " + Quoted(path), number)); };
  fs::create_directories(folder, error);
  if (error) return failed(error.value());
  constexpr std::size_t kSuffixBytes = 6;
  const std::string draft = fmt::format("{}/{}.draft", folder, RandomHex(kSuffixBytes));
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return failed(errno);
  std::string buffer;
  int problem = 0;
  const auto flush = [&] {
    problem = WriteAll(file.get(), buffer);
    buffer.clear();
    return problem == 0;
  };
  const WrittenEvents written = WriteRunEvents(run, [&](std::string_view record) {
    buffer += record;
    return buffer.size() < kBlockBytes || flush();
  });
  if (problem == 0) flush();
  if (problem == 0 && ::rename(draft.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return written;
  fs::remove(draft, error);
  return failed(problem);
}

class Exporter {
 public:
  Exporter(const std::string& folder, const std::string& name, const std::string& id, bool overwrite)
      : overwrite_(overwrite) {
    done_.folder = folder + "/" + FolderName(name) + "-" + FolderName(id);
  }

  // Refuses a folder that exists.
  Result<void> Begin() const {
    std::error_code error;
    if (overwrite_ || !fs::exists(fs::symlink_status(done_.folder, error))) return {};
    return Fail(Error("file", {}, Quoted(done_.folder) + " exists already",
                      "--overwrite replaces the event files that were exported there before"));
  }
  Result<void> Add(const RunForTensorboard& run, const std::string& below) {
    const auto written = WriteFile(run, done_.folder + below);
    if (!written) return Fail(written.error());
    ++done_.runs;
    done_.scalars += written->scalars;
    return {};
  }
  TensorboardExport done() const { return done_; }

 private:
  bool overwrite_;
  TensorboardExport done_;
};

SessionStatus StatusOfRun(const std::string& outcome) {
  if (outcome == "running") return SessionStatus::kRunning;
  return outcome == "ok" || outcome == "stopped" ? SessionStatus::kSuccess : SessionStatus::kFailure;
}

SessionStatus StatusOfTrial(const TrialFacts& trial) {
  const std::string state = trial.AttemptState();
  if (state == "running") return SessionStatus::kRunning;
  return state == "ok" || state == "stopped" ? SessionStatus::kSuccess : SessionStatus::kFailure;
}

Result<TensorboardExport> ExportRun(const std::string& run_dir, const std::string& folder, bool overwrite) {
  auto summary = SummarizeRun(run_dir, false);
  if (!summary) return Fail(summary.error());
  RunFacts facts(*std::move(summary));
  RunForTensorboard run;
  run.run_dirs = {run_dir};
  run.parameters = facts.Parameters();
  run.log = ReadOwnLogHistory(run_dir, facts.summary().outcome != "running", {});
  run.began = SecondsOf(facts.summary().started_at);
  run.status = StatusOfRun(facts.summary().outcome);
  run.ended = run.status == SessionStatus::kRunning ? InSeconds(WallNowNs()) : run.began + facts.summary().seconds;
  Exporter exporter(folder, facts.summary().name, facts.summary().run, overwrite);
  if (auto begun = exporter.Begin(); !begun) return Fail(begun.error());
  if (auto added = exporter.Add(run, ""); !added) return Fail(added.error());
  return exporter.done();
}

Result<TensorboardExport> ExportSweep(const std::string& sweep_dir, const std::string& folder, bool overwrite) {
  const auto sweep = OpenSweepAt(sweep_dir);
  if (!sweep) return Fail(sweep.error());
  Exporter exporter(folder, sweep->file.name, sweep->file.sweep_id, overwrite);
  if (auto begun = exporter.Begin(); !begun) return Fail(begun.error());
  std::optional<Diagnostics> problem;
  const auto read = sweep->view.ForEachTrial(SweepView::Order::kNumber, [&](AttemptRow row) {
    const TrialFacts trial(*sweep, std::move(row));
    RunForTensorboard run;
    run.run_dirs = trial.RunDirs();
    const auto& metrics = sweep->file.metrics;
    if (!metrics.patterns.empty()) {
      const bool over = !trial.row().ended.empty();
      for (ProcessHistory& one : ReadContinuedHistory(run.run_dirs, metrics, sweep->file.resource, over)) {
        if (one.role.empty() && !one.history.empty()) run.log = std::move(one);
      }
    }
    run.parameters = trial.row().point;
    run.began = SecondsOf(trial.row().began);
    run.ended = trial.row().ended.empty() ? InSeconds(WallNowNs()) : SecondsOf(trial.row().ended);
    run.status = StatusOfTrial(trial);
    run.results = trial.row().metrics;
    auto added = exporter.Add(run, fmt::format("/{}", trial.row().trial));
    if (!added) problem = std::move(added.error());
    return !problem;
  });
  if (problem) return Fail(*std::move(problem));
  if (!read) return Fail(read.error());
  return exporter.done();
}

// Writes below `folder`: NAME-ID/ for a run, NAME-ID/TRIAL/ for each trial of a sweep that has begun. An existing
// NAME-ID is refused; with `overwrite` the event files that were exported there before are replaced. Warns of metrics
// that were too long to be read whole.
Result<TensorboardExport> ExportTensorboard(const std::string& run_or_sweep, const std::string& folder,
                                            bool overwrite) {
  const auto found = FindRunOrSweep(run_or_sweep, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Fail(found.error());
  return found->is_sweep ? ExportSweep(found->folder, folder, overwrite) : ExportRun(found->folder, folder, overwrite);
}

}  // namespace

// muster export: writes the trials of a sweep, or the metrics of a run, for other programs.

namespace {

constexpr std::size_t kAtOnce = 1U << 16;
constexpr std::size_t kDraftBytes = 6;  // of the temporary file's random suffix

struct ExportOptions {
  std::string sweep;
  std::string file;
  bool csv = false;
  bool json_lines = false;
  bool sqlite = false;
  bool attempts = false;
  bool curves = false;
  std::vector<std::string> where;
  std::string tensorboard;
  bool overwrite = false;
};

int ExportEvents(const ExportOptions& options) {
  const auto done = ExportTensorboard(options.sweep, options.tensorboard, options.overwrite);
  if (!done) return Refuse(done.error());
  std::printf("%s: event files of %s, %llu values\n", Printable(done->folder).c_str(),
              Counted(done->runs, "run").c_str(), static_cast<unsigned long long>(done->scalars));
  return kExitOk;
}

// A line of the table for a terminal; programs get it as it is.
std::string LineOnTerminal(std::string_view line) {
  const bool csv = line.ends_with("\r\n");
  return PrintableLines(csv ? line.substr(0, line.size() - 2) : line) + (csv ? "\r\n" : "");
}

// Passes the lines of a table to `put`, until that returns false.
using Lines = std::function<Result<void>(const std::function<bool(std::string_view bytes)>& put)>;

// Writes a table to an open file; `problem`: the error message if that fails.
Result<void> Write(const Lines& lines, int file, const std::string& problem) {
  const bool on_terminal = ::isatty(file) == 1;
  std::string buffer;
  int error = 0;
  auto read = lines([&](std::string_view bytes) {
    buffer += on_terminal ? LineOnTerminal(bytes) : std::string(bytes);
    if (buffer.size() < kAtOnce) return true;
    error = WriteAll(file, buffer);
    buffer.clear();
    return error == 0;
  });
  if (!read) return read;
  if (error == 0) error = WriteAll(file, buffer);
  if (error == 0) return {};
  return Fail(SystemError("file", problem, error));
}

bool ToTerminal(const ExportOptions& options) { return options.file.empty() || options.file == "-"; }

// Writes the lines, or a database of the sweep, to the file or to the standard output.
int WriteOut(const ExportOptions& options, const TableChoice& choice, const Lines& lines,
             const OpenedSweep* sweep = nullptr) {
  if (ToTerminal(options)) {
    const auto written = Write(lines, STDOUT_FILENO, "the output cannot be written");
    return written ? kExitOk : Refuse(written.error());
  }
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string problem = "cannot write " + Quoted(options.file);
  const auto failed = [&](int error) { return Refuse({SystemError("file", problem, error)}); };
  const fs::file_status there = fs::status(options.file, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {  // a pipe or terminal is written directly
    if (options.sqlite)
      return Refuse({Error("file", {}, Quoted(options.file) + " cannot be a database: it is not a file")});
    const UniqueFd file(::open(options.file.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
    if (!file) return failed(errno);
    const auto written = Write(lines, file.get(), problem);
    return written ? kExitOk : Refuse(written.error());
  }
  // Written beside it first and renamed, so that an incomplete file replaces nothing.
  const fs::path place = fs::exists(there) ? fs::canonical(options.file, ignored) : fs::path(options.file);
  const std::string draft = fmt::format("{}.{}.draft", place.string(), RandomHex(kDraftBytes));
  const auto leave = [&](const Diagnostics& problems) {
    for (const char* end : {"", "-journal"}) fs::remove(draft + end, ignored);
    return Refuse(problems);
  };
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return failed(errno);
  if (options.sqlite) {
    const auto written = WriteDatabase(*sweep, choice, draft);
    if (!written) return leave(written.error());
  } else if (const auto written = Write(lines, file.get(), problem); !written) {
    return leave(written.error());
  }
  if (::rename(draft.c_str(), place.c_str()) != 0) return leave({SystemError("file", problem, errno)});
  return kExitOk;
}

int RunExport(const ExportOptions& options) {
  if (!options.tensorboard.empty()) return ExportEvents(options);
  if (options.csv + options.json_lines + options.sqlite != 1) {
    return Refuse({Error("usage", {}, "exactly one format is required", "--csv, --jsonl, --sqlite or --tensorboard")});
  }
  if (options.sqlite && ToTerminal(options)) {
    return Refuse({Error("usage", {}, "a database needs a file", "muster export SWEEP --sqlite trials.sqlite")});
  }
  const auto where = ReadListChoice(options.where, {}, {});
  if (!where) return Refuse(where.error());
  TableChoice choice;
  choice.where = where->conditions;
  choice.form = options.csv ? TableChoice::Form::kCsv : TableChoice::Form::kJsonLines;
  choice.attempts = options.attempts;
  if (options.curves) {
    return WriteOut(options, choice, [&](const auto& put) { return WriteCurves(options.sweep, choice, put); });
  }
  const auto sweep = OpenSweep(options.sweep);
  if (!sweep) return Refuse(sweep.error());
  return WriteOut(
      options, choice, [&](const auto& put) { return WriteTable(*sweep, choice, put); }, &*sweep);
}

}  // namespace

std::function<int()> SetupExport(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ExportOptions>();
  AddSweepArgument(app, options->sweep);
  app.get_option("SWEEP")->description(
      "path, name, name~1 (the one before) or id prefix; default: the newest. With --curves and --tensorboard also a "
      "RUN");
  CLI::Option* file =
      app.add_option("FILE", options->file, "output file, overwritten if it exists; default or -: standard output");
  CLI::Option* csv =
      app.add_flag("--csv", options->csv, "comma-separated values by RFC 4180, the first line has the names");
  CLI::Option* lines = app.add_flag("--jsonl", options->json_lines, "a JSON object for each trial, one a line");
  CLI::Option* sqlite = app.add_flag("--sqlite", options->sqlite, "a database of SQLite, with the table trials")
                            ->excludes(csv)
                            ->excludes(lines);
  csv->excludes(lines);
  CLI::Option* attempts =
      app.add_flag("--attempts", options->attempts, "all attempts of each trial, not only its last one");
  CLI::Option* curves =
      app.add_flag("--curves", options->curves, "a row for each report instead: the curves of all trials, or of a RUN")
          ->excludes(sqlite)
          ->excludes(attempts);
  AddWhereOption(app, options->where, "trials");
  CLI::Option* tensorboard =
      app.add_option("--tensorboard", options->tensorboard,
                     "event files of all trials, or of a RUN, with metrics and parameters, in a new folder below DIR")
          ->type_name("DIR");
  for (CLI::Option* other : {file, csv, lines, sqlite, attempts, curves}) tensorboard->excludes(other);
  tensorboard->excludes("--where");
  app.add_flag("--overwrite", options->overwrite, "replace event files that were exported to DIR before")
      ->needs(tensorboard);
  return [options] { return RunExport(*options); };
}

}  // namespace muster
