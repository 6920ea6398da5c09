// muster export: writes the trials of a sweep, or the metrics of a run, for other programs.
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "base/system/write_all.h"
#include "base/values/fingerprint.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/list_choice.h"
#include "cli/lookup/run_argument.h"
#include "cli/sweeps/curve_table.h"
#include "cli/sweeps/export_tensorboard.h"
#include "cli/sweeps/sweep_commands.h"
#include "cli/sweeps/trial_table.h"

namespace muster {
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
  std::printf("%s: event files of %llu %s, %llu values\n", Printable(done->folder).c_str(),
              static_cast<unsigned long long>(done->runs), done->runs == 1 ? "run" : "runs",
              static_cast<unsigned long long>(done->scalars));
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
