#include "base/values/shown_number.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace muster {

std::string ShownNumber(double number) {
  constexpr std::size_t kLongest = 32;
  std::array<char, kLongest> text{};
  std::snprintf(text.data(), text.size(), "%.6g", number);
  // A number with no more digits keeps the form that it has everywhere.
  return !std::isfinite(number) || std::strtod(text.data(), nullptr) == number ? NumberText(number) : text.data();
}

std::string ShownValue(const Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (const double* number = value.AsDouble()) return ShownNumber(*number);
  return ToText(value);
}

}  // namespace muster
