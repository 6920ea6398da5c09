// One axis of a space: the values that a name may take, and how a number of the unit interval becomes one of them.
//
// Ends are included, except the upper end of the continuous ones. Steps have to land on the upper end.
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
    kChoice,         // `values`, all alike
    kRange,          // low, low + step, …, high, all alike; whole numbers if low and step are
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

// Kind "space": no values, ends that are no numbers or the wrong way round, a step that does not land on the upper end.
// `repeats`: several values may be alike.
Result<void> CheckAxis(const Axis& axis, const Place& place, bool repeats = false);

// How many values there are; nothing where a grid has none: continuous ones, and those that are not all alike.
std::optional<std::uint64_t> CountOf(const Axis& axis);

// `index` is below CountOf.
Value ValueAt(const Axis& axis, std::uint64_t index);

// `u` in [0, 1).
Value ValueFrom(const Axis& axis, double u);

// "log_uniform(1e-05, 0.001)", "{1, 2, 4}".
std::string AxisText(const Axis& axis);

}  // namespace muster
