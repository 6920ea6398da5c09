// Reads the dumps of a run from its journal and logs, for the report and for muster dump.
//
// Reads the run directory; dump_fold.h groups the processes. Texts in it come from foreign programs: make them safe
// before showing them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "run/directory/rank_set.h"
#include "run/journal/journal.h"
#include "run/report/dump_fold.h"

namespace muster {

struct DumpReport {
  std::uint32_t number = 0;
  std::string at;         // UTC
  std::string why;        // "silent", "silent_job", "stop", "asked"
  bool ended = false;     // it is no longer in progress, …
  bool complete = false;  // … and every host reported everything
  std::string folder;     // relative to the run directory: "dumps/1"
  std::vector<DumpGroup> groups;
  std::vector<std::pair<std::string, DumpNote>> notes;  // with the host's name
  std::vector<Members> unheard;                         // running processes that were not reported
};

// Selects the processes to show.
struct DumpFilter {
  std::string role;              // empty: all roles
  std::optional<RankSet> ranks;  // processes without a rank are in none
};

// In order. `run_dir` is a descriptor of the run directory.
std::vector<DumpReport> ReadDumps(const Plan& plan, const CheckedJournal& journal, int run_dir,
                                  const DumpFilter& filter = {});

// The last dump of the run in this folder, or the one with this number. Kind "dump" if there is none, or if none of the
// selected processes was running when it was taken.
Result<DumpReport> FindDump(const std::string& run_dir, std::uint32_t number, const DumpFilter& filter);

// The file of a process in a dump, relative to the run directory: "dumps/1/worker.2.0.txt".
std::string DumpPath(const Plan& plan, std::uint32_t dump, ProcessId process, std::uint32_t attempt);

// Lines that end with a newline, safe for a terminal. At most `most` groups.
std::string DumpText(const DumpReport& dump, std::size_t most);

}  // namespace muster
