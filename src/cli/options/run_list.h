// The lists of runs that ps and ls show.
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

// Whether a head has begun to write there, of a run or a sweep.
bool HasJournal(const std::string& directory);

struct RunList {
  std::vector<RunSummary> runs;  // newest first
  Diagnostics unreadable;        // an error for each that cannot be read, which names it
};

// The runs of these folders, each a runs folder or a run directory; without any those below $MUSTER_HOME or here.
// Folders without a journal, or with an empty one, are no runs yet. `counted` as in SummarizeRun; with `live_only`
// nothing is read of the others.
Result<RunList> ListRuns(const std::vector<std::string>& folders, bool live_only, bool counted);

// "2026-11-20 12:06:16Z"
std::string TimeText(const std::string& utc);

// Columns as wide as they must be, the last one as it is. The first row is the head.
void PrintTable(const std::vector<std::vector<std::string>>& rows);

// Reports what cannot be read of what was listed; what the command exits with.
int ExitListed(const Diagnostics& unreadable);

// One of the following list. `counted` as in SummarizeRun.
nlohmann::json RunJson(const RunSummary& run, bool counted);

// {"format": 1, "runs": […]}; `columns`: of each run an object in JSON for its key "columns", or an empty text.
void PrintRunsJson(const std::vector<RunSummary>& runs, bool counted, const std::vector<std::string>& columns = {});

}  // namespace muster
