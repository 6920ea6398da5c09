#include "base/values/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "muster/value.h"

namespace muster {

// Formats numbers independently of the locale.

std::string NumberText(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return error == std::errc() ? std::string(buffer.data(), end) : "nan";
}

std::optional<std::vector<NumberRange>> ParseNumberRanges(std::string_view text) {
  std::vector<NumberRange> ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& into) {
    const auto [after, error] = std::from_chars(at, end, into);
    at = after;
    return error == std::errc();
  };
  for (;;) {
    NumberRange range;
    if (!number(range.first)) return std::nullopt;
    range.second = range.first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(range.second) || range.second < range.first) return std::nullopt;
    }
    ranges.push_back(range);
    if (at == end) return ranges;
    if (*at++ != ',') return std::nullopt;
  }
}

std::optional<std::vector<std::uint32_t>> ParseNumberList(std::string_view text, std::uint32_t limit) {
  const auto ranges = ParseNumberRanges(text);
  if (!ranges) return std::nullopt;
  std::vector<bool> named;
  for (const auto& [first, last] : *ranges) {
    if (last >= limit) return std::nullopt;
    if (named.size() <= last) named.resize(std::size_t{last} + 1);
    std::fill(named.begin() + first, named.begin() + last + 1, true);
  }
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < named.size(); ++i) {
    if (named[i]) numbers.push_back(i);
  }
  return numbers;
}

std::string NumberListText(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += '-' + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Reads digits with at most one point and no sign or exponent from the front of `text`.
std::optional<double> TakeNumber(std::string_view& text) {
  std::size_t length = 0;
  bool point = false;
  while (length < text.size() && ((text[length] >= '0' && text[length] <= '9') || (text[length] == '.' && !point))) {
    point = point || text[length] == '.';
    ++length;
  }
  if (length == 0 || text[0] == '.' || text[length - 1] == '.') return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + length, number);
  if (error != std::errc() || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return number;
}

}  // namespace

std::optional<std::int64_t> ParseBytes(std::string_view text) {
  static constexpr std::array<Unit, 12> kUnits = {{{"", 1},
                                                   {"B", 1},
                                                   {"KB", 1e3},
                                                   {"MB", 1e6},
                                                   {"GB", 1e9},
                                                   {"TB", 1e12},
                                                   {"PB", 1e15},
                                                   {"KiB", 1024.0},
                                                   {"MiB", 1048576.0},
                                                   {"GiB", 1073741824.0},
                                                   {"TiB", 1099511627776.0},
                                                   {"PiB", 1125899906842624.0}}};
  if (const auto whole = ParseNumber<std::int64_t>(text); whole && *whole >= 0 && text[0] != '-') {
    return *whole;  // exact beyond 2^53 too
  }
  const auto number = TakeNumber(text);
  if (!number) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name != text) continue;
    // 1.005 has no exact double, so 1.005KB misses 1005 by an ulp: accept numbers that are whole up to rounding.
    constexpr double kRounding = 4.5e-16;
    const double bytes = *number * unit.factor;
    const double whole_bytes = std::round(bytes);
    if (std::abs(bytes - whole_bytes) > kRounding * bytes || whole_bytes >= 9223372036854775808.0) return std::nullopt;
    return static_cast<std::int64_t>(whole_bytes);
  }
  return std::nullopt;
}

std::optional<double> ParseDuration(std::string_view text) {
  static constexpr std::array<Unit, 5> kUnits = {{{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}}};
  double total = 0;
  std::size_t next_unit = 0;
  bool any = false;
  while (!text.empty()) {
    const auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    if (text.empty() && !any) return *number == 0 ? number : std::nullopt;
    std::size_t letters = 0;
    while (letters < text.size() && text[letters] >= 'a' && text[letters] <= 'z') ++letters;
    const std::string_view name = text.substr(0, letters);
    text.remove_prefix(letters);
    bool known = false;
    for (std::size_t i = next_unit; i < kUnits.size() && !known; ++i) {
      if (kUnits[i].name != name) continue;
      total += *number * kUnits[i].factor;
      next_unit = i + 1;
      known = true;
    }
    if (!known) return std::nullopt;
    any = true;
  }
  return any ? std::optional(total) : std::nullopt;
}

std::string DurationHint(std::string_view text, std::string_view example) {
  std::string_view rest = text;
  if (!TakeNumber(rest) || !rest.empty()) return std::string(example);
  const std::string number(text);
  return "a time has its unit: write " + number + "s, " + number + "m, " + number + "h or " + number + "d";
}

std::string DurationText(double seconds) {
  const auto rounded = [](double number, int decimals) {
    std::array<char, 64> buffer;
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed, decimals);
    return error == std::errc() ? std::string(buffer.data(), end) : std::string("?");
  };
  if (seconds < 0.9995) return rounded(seconds * 1000, seconds < 0.0095 ? 1 : 0) + " ms";
  if (seconds < 59.95) return rounded(seconds, 1) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  constexpr std::int64_t kDay = 86'400;
  if (whole < kDay) return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
  return std::to_string(whole / kDay) + " d " + std::to_string(whole % kDay / 3600) + " h";
}

}  // namespace muster
