// The format of metrics: lines of JSON that a process appends to the file $MUSTER_METRICS, the names of these files,
// and which metric counts progress. The lines are the programs' and not trusted. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/value.h"

namespace muster {

// One report: numbers, booleans and short texts by name; a number that is not finite is null.
using MetricValues = std::map<std::string, Value>;

inline constexpr std::size_t kMaxMetricsLine = 64U << 10;  // longer lines are invalid
inline constexpr std::size_t kMaxMetricNames = 200;
inline constexpr std::size_t kMaxMetricText = 200;  // bytes of a name and of a text

// The JSON object of the line; NaN and infinities, which JSON lacks but programs write, and numbers that are too large
// for a double, such as 1e400, are null. Nothing if the line
// is not an object. Names beyond the first kMaxMetricNames, long texts, lists and objects are omitted.
std::optional<MetricValues> MetricsLine(std::string_view line);

// Reads the numbers (NaN for null) of a line as almost every program writes it: an object of names without escapes and
// plain values. Ten times faster than MetricsLine(). Returns false for every other line, and every invalid one.
using MetricNumbers = std::vector<std::pair<std::string_view, double>>;
bool ReadPlainNumbers(std::string_view line, MetricNumbers& numbers);

// The number of a reported value; nothing if it is not finite, or no number.
std::optional<double> FiniteNumber(const Value& value);

// Replaces the values in `last` by those of a later report. A null removes the value: beside a later step, the earlier
// one would mislead. At most kMaxMetricNames are kept.
void KeepLast(const MetricValues& report, MetricValues& last);

// "step 100, loss 0.25": at most four numbers, step counters first. Safe for a terminal.
std::string MetricsText(const MetricValues& values);

// The metrics that usually count progress, the preferred ones first.
inline constexpr std::array<std::string_view, 5> kStepMetrics = {"step", "global_step", "iteration", "iter", "epoch"};

// The metric that counts progress among those of a map: `preferred` if it has that one, else the first of kStepMetrics
// that it has; empty if it has none.
template <class ByName>
std::string StepMetric(const ByName& metrics, const std::string& preferred = {}) {
  if (!preferred.empty() && metrics.contains(preferred)) return preferred;
  for (const std::string_view name : kStepMetrics) {
    if (metrics.contains(std::string(name))) return std::string(name);
  }
  return {};
}

// A file that an attempt of a process has in a folder of the run directory: "worker.2.0.jsonl" in metrics/,
// "worker.2.0.log" in logs/.
inline constexpr std::string_view kMetricsEnding = ".jsonl";
inline constexpr std::string_view kLogEnding = ".log";
struct MetricsFileName {
  std::string role;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;

  std::string Process() const;  // "worker.2"
  std::string Name() const;     // "worker.2.0.jsonl"
  std::string Path() const;     // "metrics/worker.2.0.jsonl", relative to the run directory
  bool operator==(const MetricsFileName&) const = default;
};
// Nothing for other names.
std::optional<MetricsFileName> ParseMetricsFileName(std::string_view name, std::string_view ending = kMetricsEnding);

}  // namespace muster
