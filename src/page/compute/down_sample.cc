#include "page/compute/down_sample.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace muster {
namespace {

// Adds the smallest and the largest of the points [begin, end).
void AddExtremes(std::span<const double> y, std::size_t begin, std::size_t end, std::vector<std::size_t>& kept) {
  std::size_t low = begin;
  std::size_t high = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (y[i] < y[low]) low = i;
    if (y[i] > y[high]) high = i;
  }
  kept.push_back(std::min(low, high));
  if (low != high) kept.push_back(std::max(low, high));
}

double Place(double x, Spacing spacing, double smallest) {
  return spacing == Spacing::kLinear ? x : std::log(std::max(x, smallest));
}

}  // namespace

std::vector<std::size_t> MinMaxSample(std::span<const double> x, std::span<const double> y, std::size_t most,
                                      Spacing spacing) {
  const std::size_t count = x.size();
  std::vector<std::size_t> kept;
  if (count <= std::max<std::size_t>(most, 4)) {
    for (std::size_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
  }
  const std::size_t groups = std::max<std::size_t>((most - 2) / 2, 1);
  double smallest = std::numeric_limits<double>::infinity();  // positive x
  for (const double one : x) {
    if (one > 0) smallest = std::min(smallest, one);
  }
  if (!std::isfinite(smallest)) smallest = 1;
  const auto [least, greatest] = std::minmax_element(x.begin(), x.end());
  const double low = Place(*least, spacing, smallest);
  const double width = (Place(*greatest, spacing, smallest) - low) / static_cast<double>(groups);
  const auto group_of = [&](std::size_t i) {
    const double place = width > 0 ? (Place(x[i], spacing, smallest) - low) / width : 0;
    return std::min(static_cast<std::size_t>(std::max(place, 0.0)), groups - 1);
  };
  kept.push_back(0);
  std::size_t begin = 1;
  for (std::size_t i = 2; i < count; ++i) {
    if (i < count - 1 && group_of(i) == group_of(begin)) continue;
    AddExtremes(y, begin, i, kept);
    begin = i;
  }
  kept.push_back(count - 1);
  if (kept.size() <= most) return kept;
  // x goes back and forth: groups of equal numbers of points.
  kept = {0};
  const std::size_t inner = count - 2;
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t from = 1 + inner * group / groups;
    const std::size_t to = 1 + inner * (group + 1) / groups;
    if (from < to) AddExtremes(y, from, to, kept);
  }
  kept.push_back(count - 1);
  return kept;
}

namespace {

std::vector<std::size_t> SampleForBothAxes(std::span<const double> x, std::span<const double> y, std::size_t most) {
  constexpr double kDecades = 30;  // ratio of x from which on a logarithmic axis shows something else
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const double one : x) {
    if (one > 0) least = std::min(least, one);
    greatest = std::max(greatest, one);
  }
  if (x.size() <= most || most < 8 || greatest <= least * kDecades) {
    return MinMaxSample(x, y, most, Spacing::kLinear);
  }
  const auto even = MinMaxSample(x, y, most / 2, Spacing::kLinear);
  const auto logarithmic = MinMaxSample(x, y, most / 2, Spacing::kLog);
  std::vector<std::size_t> kept;
  std::set_union(even.begin(), even.end(), logarithmic.begin(), logarithmic.end(), std::back_inserter(kept));
  return kept;
}

bool IsFloat(double number) { return std::isfinite(static_cast<float>(number)); }

}  // namespace

void LeftOut::Add(std::uint32_t more, double their_mean) {
  if (more == 0) return;
  points += more;
  mean += (their_mean - mean) * (static_cast<double>(more) / points);
}

ThinCurve Thinned(std::span<const double> x, std::span<const double> y, std::size_t most) {
  ThinCurve curve;
  std::vector<double> finite_x;
  std::vector<double> finite_y;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!IsFloat(x[i])) continue;
    if (!IsFloat(y[i])) {
      if (curve.not_finite.size() < kMaxMarks) curve.not_finite.push_back(x[i]);
      ++curve.not_finite_points;
      continue;
    }
    finite_x.push_back(x[i]);
    finite_y.push_back(y[i]);
  }
  curve.points = finite_x.size();
  std::size_t next = 0;
  for (const std::size_t i : SampleForBothAxes(finite_x, finite_y, most)) {
    LeftOut gap;
    for (; next < i; ++next) gap.Add(1, finite_y[next]);
    next = i + 1;
    curve.x.push_back(static_cast<float>(finite_x[i]));
    curve.y.push_back(static_cast<float>(finite_y[i]));
    curve.left_out.push_back(gap.points);
    curve.mean.push_back(gap.mean);
  }
  return curve;
}

ThinCurve Thinned(const ThinCurve& curve, std::size_t most) {
  if (curve.x.size() <= most) return curve;
  const std::vector<double> x(curve.x.begin(), curve.x.end());
  const std::vector<double> y(curve.y.begin(), curve.y.end());
  ThinCurve thin;
  thin.not_finite = curve.not_finite;
  thin.not_finite_points = curve.not_finite_points;
  thin.points = curve.points;
  std::size_t next = 0;
  for (const std::size_t i : SampleForBothAxes(x, y, most)) {
    LeftOut gap;
    for (; next < i; ++next) {
      gap.Add(curve.left_out[next], curve.mean[next]);
      gap.Add(1, y[next]);
    }
    gap.Add(curve.left_out[i], curve.mean[i]);
    next = i + 1;
    thin.x.push_back(curve.x[i]);
    thin.y.push_back(curve.y[i]);
    thin.left_out.push_back(gap.points);
    thin.mean.push_back(gap.mean);
  }
  return thin;
}

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
