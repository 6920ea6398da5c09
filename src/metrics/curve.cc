#include "metrics/curve.h"

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

double PlaceOnAxis(double x, Spacing spacing, double smallest) {
  return spacing == Spacing::kLinear ? x : std::log(std::max(x, smallest));
}

std::vector<std::size_t> SampleForBoth(std::span<const double> x, std::span<const double> y, std::size_t most) {
  constexpr double kMinRatio = 30;  // of x, from which on a logarithmic axis shows something else
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const double one : x) {
    if (one > 0) least = std::min(least, one);
    greatest = std::max(greatest, one);
  }
  if (x.size() <= most || most < 8 || greatest <= least * kMinRatio) {
    return MinMaxSample(x, y, most, Spacing::kLinear);
  }
  const auto even = MinMaxSample(x, y, most / 2, Spacing::kLinear);
  const auto logarithmic = MinMaxSample(x, y, most / 2, Spacing::kLog);
  std::vector<std::size_t> kept;
  std::set_union(even.begin(), even.end(), logarithmic.begin(), logarithmic.end(), std::back_inserter(kept));
  return kept;
}

bool IsFloat(double number) { return std::abs(number) <= std::numeric_limits<float>::max(); }

// Points that are left out one after the other.
struct Gap {
  std::uint32_t points = 0;
  double mean = 0;

  void Add(std::uint32_t more, double their_mean) {
    if (more == 0) return;
    points += more;
    mean += (their_mean - mean) * (static_cast<double>(more) / points);
  }
};

}  // namespace

std::vector<std::size_t> MinMaxSample(std::span<const double> x, std::span<const double> y, std::size_t most,
                                      Spacing spacing) {
  if (spacing == Spacing::kBoth) return SampleForBoth(x, y, most);
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
  const double low = PlaceOnAxis(*least, spacing, smallest);
  const double width = (PlaceOnAxis(*greatest, spacing, smallest) - low) / static_cast<double>(groups);
  const auto group_of = [&](std::size_t i) {
    const double place = width > 0 ? (PlaceOnAxis(x[i], spacing, smallest) - low) / width : 0;
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

void Curve::Append(double at, double value) {
  if (!IsFloat(at)) return;
  if (!IsFloat(value)) {
    if (not_finite.size() < kMaxMarks) not_finite.push_back(at);
    ++not_finite_points;
    return;
  }
  x.push_back(at);
  y.push_back(value);
  left_out.push_back(0);
  mean.push_back(0);
  ++points;
}

void Curve::Thin(std::size_t most, Spacing spacing) {
  if (x.size() <= most) return;
  std::size_t next = 0;
  std::size_t kept = 0;
  for (const std::size_t i : MinMaxSample(x, y, most, spacing)) {
    Gap gap;
    for (; next < i; ++next) {
      gap.Add(left_out[next], mean[next]);
      gap.Add(1, y[next]);
    }
    gap.Add(left_out[i], mean[i]);
    next = i + 1;
    x[kept] = x[i];
    y[kept] = y[i];
    left_out[kept] = gap.points;
    mean[kept++] = gap.mean;
  }
  x.resize(kept);
  y.resize(kept);
  left_out.resize(kept);
  mean.resize(kept);
}

bool Curve::Add(double at, double value, std::size_t budget, Spacing spacing) {
  Append(at, value);
  if (x.size() + not_finite.size() <= budget) return false;
  Thin(budget / 2, spacing);
  return true;
}

Curve CurveOf(std::span<const double> x, std::span<const double> y, std::size_t most) {
  Curve curve;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) curve.Append(x[i], y[i]);
  curve.Thin(most);
  return curve;
}

}  // namespace muster
