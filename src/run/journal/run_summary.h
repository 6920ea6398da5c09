// A run in one line: what a list of runs shows of each. Made from the journal alone, without the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/result.h"

namespace muster {

struct RunSummary {
  std::string run;
  std::string plan;
  std::string name;
  std::string run_dir;
  std::int32_t pid = 0;    // the head's, on its host
  std::string started_at;  // UTC
  double seconds = 0;      // from the first record to the last
  // "running" while a muster holds the directory, else as in report.json.
  std::string outcome;
  std::int32_t exit_code = 0;  // what muster exited with; 3 for a lost head, 0 while it runs
  std::string why;             // empty if it ended well or runs
  bool rehearsal = false;

  // Only with `counted`.
  std::string phase;           // the last one
  std::uint64_t running = 0;   // processes started and not seen to have ended
  std::uint64_t ended = 0;     // … whose last attempt has ended, or could not be started
  std::string waits;           // in that phase, for devices: who has them; empty if it does not
  std::uint64_t restarts = 0;  // attempts that were started again
};

// Fails with kind "run" if the journal has no beginning. Without `counted` only the ends of the journal are read.
Result<RunSummary> SummarizeRun(const std::string& run_dir, bool counted);

}  // namespace muster
