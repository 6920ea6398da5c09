// Formats numbers independently of the locale.
#include <array>
#include <charconv>
#include <cmath>

#include "muster/value.h"

namespace muster {

std::string NumberText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return error == std::errc() ? std::string(buffer.data(), end) : "nan";
}

}  // namespace muster
