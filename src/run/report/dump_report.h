// The dumps of a run, from its history and logs, with processes in the same place as one group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/values/rank_set.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/run_history.h"
#include "run/report/failure_analysis.h"

namespace muster {

// Groups the processes of a dump by place: processes in the same place form one group, and groups that differ from most
// of their role are outliers, which probably caused a hang.
//
// Pure: depends on the plan and the agents' messages, reads nothing.

// Processes of one role that are in the same place.
struct DumpGroup {
  Members who;
  bool outlier = false;         // more than half of the role's processes are in one other place
  ProcessDumped first;          // of the first process, or of the first one with frames
  std::size_t place = 0;        // index in first.states of the system process that defines the place
  double busiest = 0;           // highest processor usage of any of them, 1 being one full processor
  double quietest_seconds = 0;  // time without output of the process that wrote last, …
  double longest_seconds = 0;   // … and of the one that wrote first
  std::string last_line;        // of the first one's log at that time; empty if it had none (see ReadDumps)

  // What defines the place; null if nothing was found.
  const SystemProcessState* state() const;
  const ThreadState* thread() const;
};

// One group for each place of a role (dump_places.h). Outliers come first, the smallest group before the others; then
// the plan's order. Processes that are not in the plan are omitted, and those that `keep` rejects, although they count
// for their role.
std::vector<DumpGroup> FoldDump(const Plan& plan, const std::vector<ProcessDumped>& reported,
                                const std::function<bool(ProcessId)>& keep = {});

// The dumps of a run, for the report and for muster dump.
//
// Reads the run directory; FoldDump groups the processes. Texts in it come from foreign programs: make them safe
// before showing them.

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
std::vector<DumpReport> ReadDumps(const Plan& plan, const RunHistory& history, int run_dir,
                                  const DumpFilter& filter = {});

// The last dump of the run in this folder, or the one with this number. Kind "dump" if there is none, or if none of the
// selected processes was running when it was taken.
Result<DumpReport> FindDump(const std::string& run_dir, std::uint32_t number, const DumpFilter& filter);

// The file of a process in a dump, relative to the run directory: "dumps/1/worker.2.0.txt".
std::string DumpPath(const Plan& plan, std::uint32_t dump, ProcessId process, std::uint32_t attempt);

// Lines that end with a newline, safe for a terminal. At most `most` groups.
std::string DumpText(const DumpReport& dump, std::size_t most);

}  // namespace muster
