#include "settings/parameters/meant_value.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/values/units.h"
#include "muster/value.h"

namespace muster {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Without brackets, quotes and blanks around it.
std::string_view Bare(std::string_view text) {
  constexpr std::string_view kAround = " \t[](){}\"'=";
  const std::size_t begin = std::min(text.find_first_not_of(kAround), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kAround) + 1);
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

// "1,000,000", "1_000" or "1'000" without what stands between the digits; empty if it is no such number.
std::string Ungrouped(std::string_view text) {
  std::string digits;
  std::size_t since = 0;  // digits since the last sign
  bool grouped = false;
  for (const char c : text) {
    if (c == ',' || c == '_' || c == '\'') {
      if (since == 0 || (grouped && since != 3)) return {};
      grouped = true;
      since = 0;
    } else if (IsDigit(c)) {
      digits += c;
      ++since;
    } else {
      return {};
    }
  }
  return grouped && since == 3 ? digits : std::string();
}

std::string Shown(double number) {
  const double whole = std::floor(number);
  constexpr double kExact = 9007199254740992.0;
  return whole == number && std::abs(number) < kExact ? ToText(Value(static_cast<std::int64_t>(number)))
                                                      : ToText(Value(number));
}

std::string MeantNumber(std::string_view text, bool whole) {
  if (std::string digits = Ungrouped(text); !digits.empty()) return digits;
  if (text.ends_with('%') && !whole) {
    const auto percent = NumberOf(Bare(text.substr(0, text.size() - 1)));
    return percent ? Shown(*percent / 100) : std::string();
  }
  std::string number(text);
  if (number.ends_with('f') || number.ends_with('F') || number.ends_with('L')) number.pop_back();
  if (std::count(number.begin(), number.end(), ',') == 1) number[number.find(',')] = '.';
  const auto read = NumberOf(number);
  if (!read || (whole && std::floor(*read) != *read)) return {};
  return whole ? Shown(*read) : number;
}

std::string MeantBool(std::string_view text) {
  const std::string word = Lower(text);
  for (const std::string_view yes : {"1", "true", "yes", "on", "y", "t"}) {
    if (word == yes) return "true";
  }
  for (const std::string_view no : {"0", "false", "no", "off", "n", "f"}) {
    if (word == no) return "false";
  }
  return {};
}

// The number with which the text begins, and the small letters behind it.
struct Measure {
  std::string number;
  std::string unit;
};

std::optional<Measure> MeasureOf(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (end == 0 || !NumberOf(text.substr(0, end))) return std::nullopt;
  return Measure{std::string(text.substr(0, end)), Lower(Bare(text.substr(end)))};
}

std::string MeantBytes(std::string_view text) {
  const auto measure = MeasureOf(text);
  if (!measure || measure->unit.empty()) return {};
  std::string unit = measure->unit;
  constexpr std::string_view kScales = "kmgtp";
  const std::size_t scale = kScales.find(unit.front());
  if (scale == std::string_view::npos) return unit == "b" || unit == "bytes" ? measure->number : "";
  const std::string rest = unit.substr(1);
  const bool decimal = rest == "b" || rest == "bytes";
  if (!decimal && !rest.empty() && rest != "ib" && rest != "i") return {};
  return measure->number + "KMGTP"[scale] + (decimal ? "B" : "iB");
}

std::string MeantDuration(std::string_view text) {
  if (std::count(text.begin(), text.end(), ':') == 2) {  // a clock: hours, minutes, seconds
    std::string meant;
    constexpr std::string_view kUnits = "hms";
    for (const char unit : kUnits) {
      const std::size_t colon = std::min(text.find(':'), text.size());
      const std::string_view part = text.substr(0, colon);
      const auto number = NumberOf(part);
      if (!number) return {};
      if (*number > 0) meant += Shown(*number) + unit;
      text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return meant;
  }
  const auto measure = MeasureOf(text);
  if (!measure) return {};
  struct Unit {
    std::string_view word;
    std::string_view unit;
  };
  constexpr std::array kUnits = {Unit{"sec", "s"},   Unit{"second", "s"}, Unit{"min", "m"}, Unit{"minute", "m"},
                                 Unit{"hr", "h"},    Unit{"hour", "h"},   Unit{"day", "d"}, Unit{"millisecond", "ms"},
                                 Unit{"msec", "ms"}, Unit{"s", "s"},      Unit{"m", "m"},   Unit{"h", "h"},
                                 Unit{"d", "d"}};
  std::string word = measure->unit;
  if (word.size() > 1 && word.ends_with('s')) word.pop_back();
  for (const Unit& each : kUnits) {
    if (word == each.word) return measure->number + std::string(each.unit);
  }
  return {};
}

}  // namespace

std::string MeantValue(ParameterType type, std::string_view text) {
  const std::string_view bare = Bare(text);
  if (bare.empty()) return {};
  std::string meant;
  if (type == ParameterType::kInt || type == ParameterType::kFloat) {
    meant = MeantNumber(bare, type == ParameterType::kInt);
  } else if (type == ParameterType::kBool) {
    meant = MeantBool(bare);
  } else if (type == ParameterType::kBytes) {
    meant = MeantBytes(bare);
  } else if (type == ParameterType::kDuration) {
    meant = MeantDuration(bare);
    if (!ParseDuration(meant)) meant.clear();
  }
  return meant == text ? std::string() : meant;
}

}  // namespace muster
