#include "page/compute/usage_bands.h"

#include <algorithm>
#include <limits>

namespace muster {
namespace {

// Sorts the values; there is at least one.
double MedianOf(std::vector<double>& values) {
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
}

}  // namespace

ValueBand BandOf(const std::vector<TimedValues>& processes, std::size_t most) {
  ValueBand band;
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  std::size_t longest = 0;
  for (const TimedValues& process : processes) {
    if (process.at.empty()) continue;
    first = std::min(first, process.at.front());
    last = std::max(last, process.at.back());
    longest = std::max(longest, process.at.size());
  }
  if (longest == 0) return band;
  const std::size_t intervals = std::clamp<std::size_t>(longest, 1, std::max<std::size_t>(most, 1));
  const double length = (last - first) / static_cast<double>(intervals);
  std::vector<std::size_t> next(processes.size(), 0);
  std::vector<double> values;
  for (std::size_t i = 1; i <= intervals; ++i) {
    const double end = i == intervals ? last : first + length * static_cast<double>(i);
    values.clear();
    for (std::size_t k = 0; k < processes.size(); ++k) {
      const TimedValues& process = processes[k];
      while (next[k] < process.at.size() && process.at[next[k]] <= end) ++next[k];
      if (next[k] > 0 && process.at[next[k] - 1] >= end - 2 * length) values.push_back(process.values[next[k] - 1]);
    }
    if (values.empty()) continue;
    band.at.push_back(end);
    band.median.push_back(MedianOf(values));
    band.low.push_back(values.front());
    band.high.push_back(values.back());
  }
  return band;
}

}  // namespace muster
