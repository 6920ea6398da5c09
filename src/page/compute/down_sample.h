// Thins curves out for drawing: the first and the last point and the smallest and largest value of each part, and
// bands over many processes. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

// Thins curves out for drawing: the first and the last point and the smallest and largest value of each interval
// stay, so that no extreme is lost (MinMax). Pure.

enum class Spacing : std::uint8_t {
  kLinear,  // intervals of equal length
  kLog,     // intervals of equal length in the logarithm; points with x <= 0 are in the first
};

// Indices of at most `most` points (at least 4), ascending. x and y are finite and of the same length, x in any order;
// points that follow one another in the same interval are one group. Curves with at most `most` points are kept whole.
std::vector<std::size_t> MinMaxSample(std::span<const double> x, std::span<const double> y, std::size_t most,
                                      Spacing spacing);

// Points that were left out, one after the other: how many, and the mean of their y.
struct LeftOut {
  std::uint32_t points = 0;
  double mean = 0;

  void Add(std::uint32_t more, double their_mean);
};

struct ThinCurve {
  std::vector<float> x;
  std::vector<float> y;
  // Of the points that were left out between a point and the one before it, so that averages are those of all points:
  std::vector<std::uint32_t> left_out;  // how many
  std::vector<double> mean;             // of their y; 0 without any
  std::vector<double> not_finite;  // x of points whose y is not finite as a float; at most kMaxMarks, the first ones
  std::uint64_t not_finite_points = 0;  // all of them
  std::uint64_t points = 0;             // of the whole curve, finite ones

  bool operator==(const ThinCurve&) const = default;
};
inline constexpr std::size_t kMaxMarks = 100;

// A curve of about `most` points for linear and logarithmic axes alike: half of the intervals are of the one kind, half
// of the other, unless all x are of a similar size. Points with an x that is not finite are omitted.
ThinCurve Thinned(std::span<const double> x, std::span<const double> y, std::size_t most);
// The same of a curve that has been thinned out already: fewer of its points.
ThinCurve Thinned(const ThinCurve& curve, std::size_t most);

// Smallest, middle and largest value over many processes, at equal intervals of time. Pure.

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
