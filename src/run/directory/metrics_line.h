// One line of $MUSTER_METRICS, as values. Lines are the programs' and not trusted.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/value.h"

namespace muster {

// One report: numbers, truths and short texts by name; null is a number that is not finite.
using MetricValues = std::map<std::string, Value>;

inline constexpr std::size_t kLongestMetricsLine = 64U << 10;  // longer ones are not read
inline constexpr std::size_t kMostMetricNames = 200;

// The object that the line is; NaN and infinities, which JSON has not and programs write all the same, are null.
// Nothing: it is none. Names beyond the first kMostMetricNames, long texts, lists and objects are left out.
std::optional<MetricValues> MetricsLine(std::string_view line);

}  // namespace muster
