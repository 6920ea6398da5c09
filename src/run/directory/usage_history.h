// What the processes of a run have used over time: samples of processor time and memory, thinned so that their number
// stays bounded however long the run is, and the file of them in the run directory, usage.jsonl.
//
// The file may come from elsewhere and is not trusted; agents of other hosts reported what is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/event.h"

namespace muster {

struct UsagePoint {
  std::uint64_t at_ms = 0;  // since the beginning of the run
  std::uint32_t attempt = 0;
  std::uint64_t running_ms = 0;  // since the attempt's start
  std::uint64_t cpu_ms = 0;      // since the attempt's start
  std::uint64_t memory_kib = 0;  // the most in its interval
  std::optional<std::uint64_t> device_kib = {};

  bool operator==(const UsagePoint&) const = default;
};

class UsageHistory {
 public:
  // Of a plan with that many processes.
  explicit UsageHistory(std::size_t processes);

  // Points of a process per interval of which one is kept, until the intervals are twice as long. The fewer, the more
  // processes the plan has.
  std::size_t most_points() const { return most_; }
  // The times of a process ascend; other points are left out, as are those of processes that the plan does not have.
  void Add(ProcessId process, UsagePoint point);
  // Adds the lines of a file; those that are invalid are left out.
  void Take(std::string_view text);

  const std::map<ProcessId, std::vector<UsagePoint>>& processes() const { return points_; }

  // A line for each time.
  std::string Lines() const;

 private:
  std::uint64_t IntervalOf(std::uint64_t at_ms) const { return at_ms / interval_ms_; }
  void Thin();

  std::size_t count_;
  std::size_t most_;
  std::uint64_t interval_ms_ = 1;
  std::map<ProcessId, std::vector<UsagePoint>> points_;
};

// The schema (wire/archive/json_schema.h) of the lines.
std::string UsageSchema();
// The line of a sample that was received at that time.
std::string UsageLine(std::uint64_t at_ms, const std::vector<std::pair<ProcessId, UsagePoint>>& sample);

// The cores that the process used in the interval before each point: an average.
std::vector<double> CoresOf(const std::vector<UsagePoint>& points);

// Over all attempts of a process, as far as they were sampled. Means are weighted by time.
struct UsageSummary {
  std::size_t samples = 0;
  double peak_cores = 0;
  double mean_cores = 0;
  std::uint64_t peak_memory_kib = 0;
  std::uint64_t mean_memory_kib = 0;
  std::optional<std::uint64_t> peak_device_kib = {};
  std::optional<std::uint64_t> mean_device_kib = {};

  bool operator==(const UsageSummary&) const = default;
};
// Nothing without points.
std::optional<UsageSummary> SummaryOf(const std::vector<UsagePoint>& points);

// Of a run directory; empty if it has no samples.
UsageHistory ReadUsage(int run_folder, std::size_t processes);
// The time of its last sample, in milliseconds since the beginning of the run; 0 if it has none.
std::uint64_t LastSampleMs(int run_folder);

}  // namespace muster
