// Summarises a run for one line of a list of runs. Made from the journal alone, without the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

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
