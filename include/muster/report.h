// What became of a run, from its run directory alone: of one that has ended, that is active, or that was copied here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

struct FailureSummary {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;
  std::optional<std::int32_t> exit_code;
  std::string signal;                   // "SIGKILL"; empty if it did not die by one
  std::string why;                      // one sentence
  std::string log;                      // relative to the run directory
  std::vector<std::string> last_lines;  // of its log; safe for a terminal
};

struct ProcessSummary {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;
  std::uint32_t attempts = 0;  // that were started
  // "origin": failed first · "victim": ended because of it · "ok" · "stopped" · "lost" · "not_started" · "running"
  std::string verdict;
};

struct ReportSummary {
  std::string run_id;
  std::string plan_id;
  std::string name;
  std::string outcome;  // "ok", "failed", "stopped", "lost", or "running"
  std::int32_t exit_code = 0;
  std::string why;  // one sentence; empty if it ended well
  std::optional<FailureSummary> first_failure;
  std::vector<ProcessSummary> processes;  // in the plan's order
  double seconds = 0;                     // that the run took
};

// Fails with kind "run" if the folder holds no plan or no journal. What else is missing or damaged only leaves gaps in
// the result. Texts were written by the run's processes, except for last_lines: make them safe before showing them.
Result<ReportSummary> ReadReport(const std::string& run_dir);

}  // namespace muster
