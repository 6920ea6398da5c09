#include "space/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace muster {
namespace {

constexpr double kLargestWhole = 9007199254740992;  // 2^53: all whole numbers up to this are exact as double

std::uint64_t Steps(const Axis& axis) {
  return static_cast<std::uint64_t>(std::llround((axis.high - axis.low) / axis.step));
}

double Rounded(double number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return std::strtod(text, nullptr);
}

// 0.1 + 2 × 0.1 becomes 0.3: rounds to the few digits that the step's author meant.
double Tidy(double number) { return Rounded(number, 15); }

// Drawn values have six significant digits, so that people can type them; more if the axis is so narrow that rounding
// would leave it.
double Typeable(double number, double low, double high) {
  for (int digits = 6; digits <= 17; ++digits) {
    const double rounded = Rounded(number, digits);
    if (rounded >= low && rounded < high) return rounded;
  }
  return std::clamp(number, low, std::nextafter(high, low));
}

}  // namespace

std::string_view AxisKindName(Axis::Kind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"choice", "range", "uniform", "log_uniform", "int_log_uniform"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<void> CheckAxis(const Axis& axis, const Place& place, bool repeats) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return Fail(Error("space", place, "axis " + axis.name + ": " + why, hint));
  };
  if (axis.kind == Axis::Kind::kChoice) {
    if (axis.values.empty()) return refuse("there is no value to choose", "choice { 1, 2, 4 }");
    for (std::size_t i = 0; !repeats && i < axis.values.size(); ++i) {
      for (std::size_t k = i + 1; k < axis.values.size() && axis.values.size() <= 1000; ++k) {
        if (axis.values[i] == axis.values[k]) {
          return refuse("the value " + ToText(axis.values[i]) + " is given twice", "each point is tried once");
        }
      }
    }
    return {};
  }
  const std::string ends = NumberText(axis.low) + " to " + NumberText(axis.high);
  if (!std::isfinite(axis.low) || !std::isfinite(axis.high)) return refuse("its ends are no numbers: " + ends, "");
  const bool one_value_is_fine = axis.kind == Axis::Kind::kRange || axis.kind == Axis::Kind::kIntLogUniform;
  if (axis.low > axis.high || (!one_value_is_fine && axis.low == axis.high)) {
    return refuse("from " + ends + " there is nothing", "the lower end comes first");
  }
  if (axis.kind == Axis::Kind::kRange) {
    if (!(axis.step > 0) || !std::isfinite(axis.step))
      return refuse("the step must be above 0, got " + NumberText(axis.step), "");
    const double steps = (axis.high - axis.low) / axis.step;
    if (steps > 1e15) return refuse("there are too many values", "a larger step");
    if (std::abs(steps - std::round(steps)) > 1e-9 * std::max(1.0, steps)) {
      const double last = Tidy(axis.low + std::floor(steps) * axis.step);
      return refuse("steps of " + NumberText(axis.step) + " from " + ends + " do not land on the upper end",
                    "the last would be " + NumberText(last));
    }
  }
  if (axis.kind == Axis::Kind::kLogUniform && !(axis.low > 0)) {
    return refuse("a logarithmic axis needs numbers above 0, got " + ends, "");
  }
  if (axis.kind == Axis::Kind::kIntLogUniform &&
      (axis.low < 1 || axis.high >= kLargestWhole || std::floor(axis.low) != axis.low ||
       std::floor(axis.high) != axis.high)) {
    return refuse("expected integers from 1, got " + ends, "");
  }
  return {};
}

std::optional<std::uint64_t> CountOf(const Axis& axis) {
  if (axis.kind == Axis::Kind::kChoice) return axis.values.size();
  if (axis.kind == Axis::Kind::kRange) return Steps(axis) + 1;
  return std::nullopt;
}

Value ValueAt(const Axis& axis, std::uint64_t index) {
  if (axis.kind == Axis::Kind::kChoice) return axis.values[index];
  const double number = Tidy(axis.low + static_cast<double>(index) * axis.step);
  if (axis.whole) return Value(static_cast<std::int64_t>(std::llround(number)));
  return Value(number);
}

Value ValueFrom(const Axis& axis, double u) {
  if (const auto count = CountOf(axis)) {
    const auto index = static_cast<std::uint64_t>(u * static_cast<double>(*count));
    return ValueAt(axis, std::min(index, *count - 1));
  }
  if (axis.kind == Axis::Kind::kUniform)
    return Value(Typeable(axis.low + u * (axis.high - axis.low), axis.low, axis.high));
  const double low = std::log(axis.low);
  if (axis.kind == Axis::Kind::kLogUniform) {
    return Value(Typeable(std::exp(low + u * (std::log(axis.high) - low)), axis.low, axis.high));
  }
  const double number = std::floor(std::exp(low + u * (std::log(axis.high + 1) - low)));
  return Value(static_cast<std::int64_t>(std::clamp(number, axis.low, axis.high)));
}

std::string AxisText(const Axis& axis) {
  if (axis.kind == Axis::Kind::kChoice) return ToText(Value(Value::List(axis.values.begin(), axis.values.end())));
  std::string text = std::string(AxisKindName(axis.kind)) + "(" + NumberText(axis.low) + ", " + NumberText(axis.high);
  if (axis.kind == Axis::Kind::kRange) text += ", " + NumberText(axis.step);
  return text + ")";
}

}  // namespace muster
