// The lists of runs of ps and ls.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <nlohmann/json_fwd.hpp>

#include "muster/result.h"
#include "run/journal/run_summary.h"

namespace muster {

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

// One element of the following list. `counted` as in SummarizeRun.
nlohmann::json RunJson(const RunSummary& run, bool counted);

// {"format": 1, "runs": […]}; `columns`: for each run a JSON object for its key "columns", or an empty text.
void PrintRunsJson(const std::vector<RunSummary>& runs, bool counted, const std::vector<std::string>& columns = {});

}  // namespace muster
