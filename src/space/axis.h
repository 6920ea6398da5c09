// One axis of a space: the values of a name, and the mapping from the unit interval to them.
//
// Both ends are included, except the upper end of continuous axes. Steps must reach the upper end exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

struct Axis {
  enum class Kind : std::uint8_t {
    kChoice,         // `values`, equally likely
    kRange,          // low, low + step, …, high, equally likely; whole numbers if low and step are
    kUniform,        // [low, high)
    kLogUniform,     // [low, high), uniform in the logarithm; low > 0
    kIntLogUniform,  // whole numbers from low to high, uniform in the logarithm; low >= 1
  };
  std::string name;
  Kind kind = Kind::kChoice;
  std::vector<Value> values = {};
  double low = 0;
  double high = 0;
  double step = 1;
  bool whole = false;  // kRange: whole numbers

  bool operator==(const Axis&) const = default;
};

// "choice", "range", "uniform", "log_uniform", "int_log_uniform".
std::string_view AxisKindName(Axis::Kind kind);

// Kind "space": no values, bounds that are not finite or in the wrong order, a step that does not reach the upper end.
// `repeats`: values may occur more than once.
Result<void> CheckAxis(const Axis& axis, const Place& place, bool repeats = false);

// The number of values; nothing without a grid: continuous axes, and those with values that are not equally likely.
std::optional<std::uint64_t> CountOf(const Axis& axis);

// `index` is below CountOf.
Value ValueAt(const Axis& axis, std::uint64_t index);

// `u` in [0, 1).
Value ValueFrom(const Axis& axis, double u);

// "log_uniform(1e-05, 0.001)", "{1, 2, 4}".
std::string AxisText(const Axis& axis);

}  // namespace muster
