// The outcome of a run, from its run directory alone: of a run that has ended, is active, or was copied here.
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
  std::string signal;                   // "SIGKILL"; empty if no signal ended it
  std::string why;                      // one sentence
  std::string log;                      // relative to the run directory
  std::vector<std::string> last_lines;  // of its log; safe for a terminal
};

struct ProcessSummary {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;
  std::uint32_t attempts = 0;  // starts of the process
  // "origin": failed first · "victim": ended because of it · "ok" · "stopped" · "lost" · "not_started" · "running"
  std::string verdict;
};

struct ReportSummary {
  std::string run_id;
  std::string plan_id;
  std::string name;
  std::string outcome;  // "ok", "failed", "stopped", "lost", or "running"
  std::int32_t exit_code = 0;
  std::string why;  // one sentence; empty on success
  std::optional<FailureSummary> first_failure;
  std::vector<ProcessSummary> processes;  // in the plan's order
  double seconds = 0;                     // duration of the run
};

// Fails with kind "run" if the folder has no plan or no journal. Other missing or damaged files only leave fields
// empty. Texts were written by the run's processes, except for last_lines: make them safe before showing them.
Result<ReportSummary> ReadReport(const std::string& run_dir);

}  // namespace muster
