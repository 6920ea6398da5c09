// Smallest, middle and largest value over many processes, at equal intervals of time. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace muster {

struct TimedValues {
  std::vector<double> at;  // ascending
  std::vector<double> values;
};

struct ValueBand {
  std::vector<double> at;  // the ends of the intervals in which any process has a value
  std::vector<double> low, median, high;
};

// At most `most` intervals (at least 1), as many as the longest series has points. A process has the last value that it
// had within an interval, or else in the one before.
ValueBand BandOf(const std::vector<TimedValues>& processes, std::size_t most);

}  // namespace muster
