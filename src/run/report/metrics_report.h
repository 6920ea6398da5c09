// The metrics that processes report: lines of JSON that they append to $MUSTER_METRICS. Of each role one process
// speaks: its first one that reported anything, rank 0 where that did. What is told are the last values.
//
// The files are the programs' and not trusted: links are not followed, more than the last kMostMetricsBytes of a file
// is not read, and lines that are none are counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/value.h"

namespace muster {

struct Plan;

inline constexpr std::size_t kMostMetricsBytes = 8U << 20;

struct RoleMetrics {
  std::string role;
  std::uint32_t index = 0;            // of the process that speaks
  std::map<std::string, Value> last;  // numbers, truths and short texts, by name
  std::uint64_t lines = 0;
  std::uint64_t bad_lines = 0;  // that are no object of JSON, too long, or cut
};

// "metrics/worker.2.0.jsonl", relative to the run directory.
std::string MetricsPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

// Takes the values of one file's text over those that `metrics` has.
void TakeMetrics(std::string_view text, RoleMetrics& metrics);

// By role; those that reported nothing are left out. `attempts`: the number of each process's last one.
std::vector<RoleMetrics> ReadMetrics(const Plan& plan, int folder, const std::vector<std::uint32_t>& attempts);

}  // namespace muster
