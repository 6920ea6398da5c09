// A run in a few values, from its journal without the plan: its line in a list of runs, how long it lasted if its
// head was killed, and which of its processes may still exist when head and agent are gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"
#include "run/journal/journal.h"

namespace muster {

// How long a run lasted whose head did not record its end, because it was killed: until the last sign of its life. That
// is more than the last entry of the journal: processes write logs and metrics between two events, and the head writes
// samples of their usage.

// From the first record of the journal to the last sign in the run directory (a descriptor); at least to the last
// record. The times of the files count unless the directory was copied without them; then the times in the files do.
MonotonicNs NsUntilLastSign(int run_folder, const RecordMark& first, const RecordMark& last);

// Reads from a run's journal which of its processes may still exist, to find them when head and agent are gone.
//
// Depends on journals; of processes it checks only whether one still exists.

struct RunTrace {
  std::string run_id;
  std::string boot;                                  // boot id of the machine during the run
  bool ended = false;                                // whether its journal is complete
  std::pair<std::int32_t, std::uint64_t> head = {};  // pid and start time, as below
  // Agents of this machine and processes whose end was not recorded: pid and start time (clock ticks since boot).
  std::vector<std::pair<std::int32_t, std::uint64_t>> identities;
  std::string cgroup;  // the agent's cgroup; empty: none
};

// Whether the run is active: its journal is incomplete, and its head is a process of this boot of the machine.
// This holds for every copy of the journal, wherever it is. A head that was killed but not reaped yet is not
// alive.
bool HeadLives(const RunTrace& trace);

// Kind "run" if there is no journal, or its first record is not that of a run.
Result<RunTrace> TraceRun(const std::string& run_dir);

// Summarises a run for one line of a list of runs. Made from the journal alone, without the plan.

struct RunSummary {
  std::string run;
  std::string plan;
  std::string name;
  std::string run_dir;
  std::int32_t pid = 0;    // the head's, on its host
  std::string started_at;  // UTC
  double seconds = 0;      // from the first record to the last; of a lost head to the last sign of the run
  // "running" while a muster process holds the directory, else as in report.json.
  std::string outcome;
  std::int32_t exit_code = 0;  // muster's exit code; 3 for a lost head, 0 while the run is active
  std::string why;             // empty if the run succeeded or is active
  bool rehearsal = false;
  bool drill = false;

  // These are set only with `counted`.
  std::string phase;           // the latest one
  std::uint64_t running = 0;   // processes that were started and have not ended
  std::uint64_t ended = 0;     // … whose last attempt has ended, or could not be started
  std::string waits;           // if the run waits for devices in that phase: who holds them; else empty
  std::uint64_t restarts = 0;  // number of restarted attempts
  // Names of the devices of each of its hosts, by their own names; empty until they were allocated.
  std::vector<std::pair<std::string, std::vector<std::string>>> devices;
};

// Fails with kind "run" if the journal has no first record. Without `counted` only the first and last record are read.
Result<RunSummary> SummarizeRun(const std::string& run_dir, bool counted);

}  // namespace muster
