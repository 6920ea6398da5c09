// Reads the metrics that processes report: lines of JSON that they append to $MUSTER_METRICS. Each role is represented
// by its first process that reported anything, rank 0 if it did. The last values are reported.
//
// The files are written by the programs and not trusted: links are not followed, only the last kMaxMetricsBytes of a
// file are read, and invalid lines are counted.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/metrics_line.h"
#include "muster/event.h"

namespace muster {

struct Plan;

inline constexpr std::size_t kMaxMetricsBytes = 8U << 20;

struct RoleMetrics {
  std::string role;
  std::uint32_t index = 0;  // of the process that represents the role
  MetricValues last;
  std::set<std::string> not_finite;  // names whose last value is no finite number, and so is not in `last`
  std::uint64_t lines = 0;
  std::uint64_t bad_lines = 0;  // not a JSON object, too long, or cut
};

// "metrics/worker.2.0.jsonl", relative to the run directory.
std::string MetricsPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

// Adds a line of a file. `whole`: as in GrowingFile::Take.
void TakeMetrics(std::string_view line, bool whole, RoleMetrics& metrics);

// By role; roles without reports are omitted. `attempts`: the number of each process's last attempt.
std::vector<RoleMetrics> ReadMetrics(const Plan& plan, int folder, const std::vector<std::uint32_t>& attempts);

// Adds the last values that the plan's patterns find in the log of its process; a name that the role reported itself
// stays. `over`: nothing is written to the log any more.
void AddLogMetrics(const Plan& plan, const std::string& run_dir, bool over, std::vector<RoleMetrics>& metrics);

}  // namespace muster
