// Curves of bounded size, and the one way to thin them out (MinMax). Pure.
//
// Of the points of each interval of x those with the smallest and the largest value stay, so that no extreme is lost,
// and so do the first and the last point. What is left out is counted, and its mean is known. The same points with the
// same budget always leave the same curve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace muster {

enum class Spacing : std::uint8_t {
  kLinear,  // intervals of equal length
  kLog,     // intervals of equal length in the logarithm; points with x <= 0 are in the first
  kBoth,    // for axes of either kind: half of the points of each, unless all x are of a similar size
};

// Indices of at most `most` points (at least 4), ascending. x and y are floats in range, and of the same length, x in
// any order; points that follow one another in the same interval are one group. Curves with at most `most` points are
// kept whole.
std::vector<std::size_t> MinMaxSample(std::span<const double> x, std::span<const double> y, std::size_t most,
                                      Spacing spacing);

struct Curve {
  static constexpr std::size_t kMaxMarks = 100;

  std::vector<double> x;
  std::vector<double> y;
  // Of the points that were left out between a point and the one before it, so that averages are those of all points:
  std::vector<std::uint32_t> left_out;  // how many
  std::vector<double> mean;             // of their y; 0 without any
  std::vector<double> not_finite;       // x of points whose y no float has; at most kMaxMarks, the first ones
  std::uint64_t not_finite_points = 0;  // all of them
  std::uint64_t points = 0;             // of the whole curve, finite ones

  // Appends a point. Points with an x that no float has are omitted.
  void Append(double at, double value);
  // Leaves out points until there are at most `most` (at least 4).
  void Thin(std::size_t most, Spacing spacing = Spacing::kBoth);
  // Appends a point, and keeps the curve within a budget of points and marks (more than 2 · kMaxMarks): one that
  // exceeds it is thinned out to half of it, so that a point costs O(1), amortised. Returns whether points were left
  // out now.
  bool Add(double at, double value, std::size_t budget, Spacing spacing = Spacing::kBoth);

  bool operator==(const Curve&) const = default;
};

// The points (x[i], y[i]), thinned out.
Curve CurveOf(std::span<const double> x, std::span<const double> y, std::size_t most);

}  // namespace muster
