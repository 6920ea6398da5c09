#include "cli/lookup/run_list.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <errno.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "base/values/columns.h"
#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "run/directory/run_directory.h"

namespace muster {
namespace {

// For a path, which may contain any byte.
std::string JsonSafe(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

constexpr std::size_t kBlanks = 2;     // between columns
constexpr std::size_t kLeastCut = 20;  // ids, times and states, which are copied, are shorter
constexpr std::size_t kLeastLast = 8;
constexpr std::size_t kLongestId = 12;
constexpr std::size_t kLeastTime = 10;  // the day of a time

// Narrows columns until a row fits: the last one, which holds descriptions and notes, then the widest, then the last
// one again. The first one names what the row is about, and stays. `terminal` 0: unchanged.
void FitTerminal(std::vector<std::size_t>& widths, std::size_t terminal) {
  if (terminal == 0 || widths.size() < 2) return;
  std::size_t row = kBlanks * (widths.size() - 1);
  for (const std::size_t width : widths) row += width;
  const auto narrow = [&](std::size_t& width, std::size_t least) {
    const std::size_t by = std::min(row - std::min(row, terminal), width - std::min(width, least));
    width -= by;
    row -= by;
  };
  narrow(widths.back(), kLeastCut);
  const std::vector<std::size_t> natural = widths;  // what fits into an id may be one, and is not cut
  const auto narrow_widest = [&](std::size_t least) {
    while (row > terminal) {
      std::size_t widest = 0;
      for (std::size_t i = 1; i + 1 < widths.size(); ++i) {
        if (natural[i] > kLongestId && widths[i] > least && widths[i] > (widest == 0 ? 0 : widths[widest])) widest = i;
      }
      if (widest == 0) break;
      narrow(widths[widest], widths[widest] - 1);
    }
  };
  narrow_widest(kLeastCut);
  narrow(widths.back(), kLeastLast);
  narrow_widest(kLeastTime);
}

}  // namespace

void AddFoldersArgument(CLI::App& app, std::vector<std::string>& folders) {
  app.add_option("FOLDERS", folders, "folders of runs, or run directories; default: $MUSTER_HOME/runs or ./runs");
}

bool HasJournal(const std::string& directory) {
  struct stat status {};
  if (::lstat((directory + "/journal.jsonl").c_str(), &status) != 0) return errno != ENOENT;
  return !S_ISREG(status.st_mode) || status.st_size > 0;
}

Result<RunList> ListRuns(const std::vector<std::string>& folders, bool live_only, bool counted) {
  std::vector<std::string> places = folders;
  if (places.empty()) {
    Result<std::string> runs = DefaultRunsFolder();
    if (!runs) return Fail(runs.error());
    places.push_back(std::move(*runs));
  }
  RunList list;
  for (const std::string& place : places) {
    std::vector<std::string> paths;
    std::error_code error;
    if (std::filesystem::is_regular_file(place + "/plan.json", error)) {
      paths.push_back(place);
    } else {
      for (const FoundRun& found : RunsBelow(place)) paths.push_back(found.path);
    }
    for (const std::string& path : paths) {
      if (live_only && !IsRunLive(path)) continue;
      if (!HasJournal(path)) continue;
      Result<RunSummary> run = SummarizeRun(path, counted);
      if (!run) {
        list.unreadable.insert(list.unreadable.end(), run.error().begin(), run.error().end());
      } else if (!live_only || run->outcome == "running") {
        list.runs.push_back(std::move(*run));
      }
    }
  }
  std::stable_sort(list.runs.begin(), list.runs.end(),
                   [](const RunSummary& a, const RunSummary& b) { return a.started_at > b.started_at; });
  return list;
}

int ExitListed(const Diagnostics& unreadable) {
  if (unreadable.empty()) return kExitOk;
  std::fflush(stdout);
  PrintDiagnostics(unreadable);
  return kExitUnreadable;
}

std::string TimeText(const std::string& utc) {
  std::string text = utc.substr(0, utc.find('.')) + "Z";
  if (const std::size_t t = text.find('T'); t != std::string::npos) text[t] = ' ';
  return Printable(text);
}

namespace {

// The rows without that column.
void LeaveOut(std::size_t column, std::vector<std::vector<std::string>>& rows) {
  for (std::vector<std::string>& row : rows) {
    if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::vector<std::size_t> FittedWidths(const std::vector<std::vector<std::string>>& rows, std::size_t terminal,
                                      bool& fits) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  FitTerminal(widths, terminal);
  std::size_t taken = kBlanks * (std::max(widths.size(), std::size_t{1}) - 1);
  for (const std::size_t width : widths) taken += width;
  fits = terminal == 0 || taken <= terminal;
  return widths;
}

}  // namespace

// On a terminal that is too narrow, without columns that are empty, and then without the last one, which is a folder or
// a note.
void PrintTable(const std::vector<std::vector<std::string>>& all) {
  std::vector<std::vector<std::string>> rows = all;
  const std::size_t terminal = OutputColumns(0);
  bool fits = true;
  std::vector<std::size_t> widths = FittedWidths(rows, terminal, fits);
  for (std::size_t column = rows.empty() ? 0 : rows.front().size(); !fits && column-- > 1;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [&](const std::vector<std::string>& row) {
      return column >= row.size() || row[column].empty();
    });
    if (!empty) continue;
    LeaveOut(column, rows);
    widths = FittedWidths(rows, terminal, fits);
  }
  if (!fits && widths.size() > 2 && widths.back() <= kLeastLast) {
    LeaveOut(widths.size() - 1, rows);
    widths = FittedWidths(rows, terminal, fits);
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += InColumns(row[i], widths[i]);
      if (i + 1 < row.size()) line.append(kBlanks, ' ');
    }
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  }
}

nlohmann::json RunJson(const RunSummary& run, bool counted) {
  nlohmann::json one = {{"run", run.run},
                        {"plan", run.plan},
                        {"name", run.name},
                        {"run_dir", JsonSafe(run.run_dir)},
                        {"pid", run.pid},
                        {"started_at", run.started_at},
                        {"seconds", run.seconds},
                        {"outcome", run.outcome},
                        {"exit_code", nullptr},
                        {"why", nullptr},
                        {"rehearsal", run.rehearsal}};
  if (run.outcome != "running") one["exit_code"] = run.exit_code;
  if (!run.why.empty()) one["why"] = run.why;
  if (counted) {
    one["phase"] = run.phase;
    if (!run.waits.empty()) one["waits"] = run.waits;
    one["running"] = run.running;
    one["ended"] = run.ended;
    one["restarts"] = run.restarts;
  }
  return one;
}

void PrintRunsJson(const std::vector<RunSummary>& runs, bool counted, const std::vector<std::string>& columns) {
  nlohmann::json list = nlohmann::json::array();
  for (const RunSummary& run : runs) {
    nlohmann::json one = RunJson(run, counted);
    if (list.size() < columns.size() && !columns[list.size()].empty()) {
      one["columns"] = nlohmann::json::parse(columns[list.size()], nullptr, false);
    }
    list.push_back(std::move(one));
  }
  const nlohmann::json object = {{"format", 1}, {"runs", std::move(list)}};
  std::printf("%s\n", SerializedJson(object, 2).c_str());
}

}  // namespace muster
