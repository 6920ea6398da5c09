#include "settings/values/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

namespace muster {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <std::size_t N>
bool OneOf(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 6> kOldTrue = {"yes", "Yes", "YES", "on", "On", "ON"};
constexpr std::array<std::string_view, 6> kOldFalse = {"no", "No", "NO", "off", "Off", "OFF"};

std::string_view WithoutSign(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return text;
}

template <class IsOne>
bool All(std::string_view text, IsOne is_one) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_one);
}

bool IsDecimal(std::string_view plain) { return All(WithoutSign(plain), IsDigit); }

// [-+]? ( \.[0-9]+ | [0-9]+ ( \.[0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool IsFloat(std::string_view plain) {
  std::string_view rest = WithoutSign(plain);
  const auto digits = [&rest] {
    const auto* const end = std::find_if_not(rest.begin(), rest.end(), IsDigit);
    const auto count = static_cast<std::size_t>(end - rest.begin());
    rest.remove_prefix(count);
    return count;
  };
  std::size_t mantissa = digits();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    mantissa += digits();
  }
  if (mantissa == 0) return false;
  if (!rest.empty() && (rest[0] == 'e' || rest[0] == 'E')) {
    rest = WithoutSign(rest.substr(1));
    if (digits() == 0) return false;
  }
  return rest.empty();
}

constexpr std::array<std::string_view, 3> kInfinity = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNan = {".nan", ".NaN", ".NAN"};

tl::expected<Value, std::string> Integer(std::string_view digits, int base, bool negative, std::string_view plain) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc() || number > kExact) {
    return tl::unexpected(std::string(plain) +
                          " is beyond 2^53, where numbers have gaps; quote it to have it as a text");
  }
  return Value(negative ? -number : number);
}

// Numbers that YAML 1.1 has and 1.2 does not: 010, 1_000, 0b11, 1:30. Returns their values if these are
// short.
std::optional<std::string> OldNumber(std::string_view plain) {
  const std::string sign = plain.starts_with('-') ? "-" : "";
  const std::string_view rest = WithoutSign(plain);
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  if (rest.size() > 1 && rest[0] == '0' && All(rest.substr(1), octal)) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, 8);
    if (number == 0) return std::nullopt;
    return error == std::errc() ? sign + std::to_string(number) : "a number";
  }
  if (rest.find('_') != std::string_view::npos &&
      All(rest, [](char c) { return IsDigit(c) || c == '_' || c == '.'; })) {
    std::string number(rest);
    std::erase(number, '_');
    return sign + number;
  }
  if (rest.starts_with("0b") && All(rest.substr(2), [](char c) { return c == '0' || c == '1' || c == '_'; })) {
    return "a number";
  }
  if (rest.find(':') != std::string_view::npos) {
    std::uint64_t total = 0;
    std::size_t parts = 0;
    for (std::string_view left = rest;;) {
      const std::string_view part = left.substr(0, left.find(':'));
      std::uint64_t number = 0;
      constexpr std::size_t kMostDigits = 9;
      if (!All(part, IsDigit) || part.size() > kMostDigits || (parts > 0 && part.size() > 2)) return std::nullopt;
      std::from_chars(part.data(), part.data() + part.size(), number);
      if ((parts > 0 && number >= 60) || ++parts > 4) return std::nullopt;
      total = total * 60 + number;
      if (part.size() == left.size()) break;
      left.remove_prefix(part.size() + 1);
    }
    return sign + std::to_string(total);
  }
  return std::nullopt;
}

}  // namespace

tl::expected<Value, std::string> YamlScalarValue(std::string_view plain) {
  if (OneOf(plain, kNulls)) return Value();
  if (OneOf(plain, kTrue)) return Value(true);
  if (OneOf(plain, kFalse)) return Value(false);
  if (IsDecimal(plain)) return Integer(WithoutSign(plain), 10, plain.starts_with('-'), plain);
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  const auto is_hexadecimal = [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  if (plain.starts_with("0o") && All(plain.substr(2), is_octal)) return Integer(plain.substr(2), 8, false, plain);
  if (plain.starts_with("0x") && All(plain.substr(2), is_hexadecimal)) {
    return Integer(plain.substr(2), 16, false, plain);
  }
  if (IsFloat(plain)) {
    double number = 0;
    const std::string_view digits = plain.starts_with('+') ? plain.substr(1) : plain;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || !std::isfinite(number)) return tl::unexpected(std::string(plain) + " fits no number");
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (number == std::floor(number) && std::abs(number) <= kExact) return Value(static_cast<std::int64_t>(number));
    return Value(number);
  }
  if (OneOf(WithoutSign(plain), kInfinity) || OneOf(plain, kNan)) {
    return tl::unexpected(std::string(plain) + " is not a finite number");
  }
  return Value(plain);
}

std::optional<std::string> YamlOldMeaning(std::string_view plain) {
  if (OneOf(plain, kOldTrue)) return "true";
  if (OneOf(plain, kOldFalse)) return "false";
  return OldNumber(plain);
}

bool IsPlainYamlText(std::string_view text) {
  // Much stricter than YAML: quote in case of doubt.
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_inner = [&](char c) {
    return is_letter(c) || IsDigit(c) || c == '.' || c == '/' || c == '-' || c == '+' || c == ' ';
  };
  if (text.empty() || !(is_letter(text[0]) || text[0] == '/') || text.back() == ' ') return false;
  if (!std::all_of(text.begin(), text.end(), is_inner)) return false;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                             "on",   "off",  "y",     "n"};
  return !OneOf(lower, kWords);
}

std::string YamlNumberText(double number) {
  std::string text = NumberText(number);
  const std::size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos) text.insert(std::min(exponent, text.size()), ".0");
  return text;
}

}  // namespace muster
