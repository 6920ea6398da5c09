// The dumps of a run, from its journal and its logs: for the report and for muster dump.
//
// Knows the run directory; who is where has been folded (dump_fold.h). Texts in it came from foreign programs: they are
// made safe where they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "run/directory/rank_set.h"
#include "run/journal/checked_journal.h"
#include "run/report/dump_fold.h"

namespace muster {

struct DumpReport {
  std::uint32_t number = 0;
  std::string at;         // UTC
  std::string why;        // "silent", "silent_job", "stop", "asked"
  bool ended = false;     // it is not being taken any more, …
  bool complete = false;  // … and every host told all it had to
  std::string folder;     // relative to the run directory: "dumps/1"
  std::vector<DumpGroup> groups;
  std::vector<std::pair<std::string, DumpNote>> notes;  // with the host's name
  std::vector<Members> unheard;                         // of those that ran, who was not told of
};

// Which processes are to be told of.
struct DumpFilter {
  std::string role;              // empty: all roles
  std::optional<RankSet> ranks;  // processes without a rank are in none
};

// In order. `run_dir` is a descriptor of the run directory.
std::vector<DumpReport> ReadDumps(const Plan& plan, const CheckedJournal& journal, int run_dir,
                                  const DumpFilter& filter = {});

// The last dump of the run in this folder, or that with this number. Kind "dump" if there is none, or if none of those
// that are asked for ran when it was taken.
Result<DumpReport> FindDump(const std::string& run_dir, std::uint32_t number, const DumpFilter& filter);

// The file of a process in a dump, relative to the run directory: "dumps/1/worker.2.0.txt".
std::string DumpPath(const Plan& plan, std::uint32_t dump, ProcessId process, std::uint32_t attempt);

// For people: lines that end with a newline, safe for a terminal. At most `most` groups.
std::string DumpText(const DumpReport& dump, std::size_t most);

}  // namespace muster
