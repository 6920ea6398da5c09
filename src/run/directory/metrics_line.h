// Parses one line of $MUSTER_METRICS. Lines are written by the programs and not trusted.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/value.h"

namespace muster {

// One report: numbers, booleans and short texts by name; a number that is not finite is null.
using MetricValues = std::map<std::string, Value>;

inline constexpr std::size_t kLongestMetricsLine = 64U << 10;  // longer lines are ignored
inline constexpr std::size_t kMostMetricNames = 200;

// The JSON object of the line; NaN and infinities, which JSON lacks but programs write, are null. Empty if the line is
// not an object. Names beyond the first kMostMetricNames, long texts, lists and objects are omitted.
std::optional<MetricValues> MetricsLine(std::string_view line);

}  // namespace muster
