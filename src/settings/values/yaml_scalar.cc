#include "settings/values/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <system_error>

#include "base/values/shell_quote.h"

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

// --- the types of YAML 1.1, as PyYAML's resolver has them --------------------------------------------------------

bool IsDigitOr_(char c) { return IsDigit(c) || c == '_'; }

// The number without '_'; empty if it has no digit.
std::string Digits(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// "30:45" behind the ':' of 1:30:45: parts of one or two digits below 60. Adds them to `total`.
bool Sexagesimal(std::string_view text, std::uint64_t& total) {
  constexpr std::size_t kMostParts = 4;
  for (std::size_t parts = 1; parts <= kMostParts; ++parts) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (!All(part, IsDigit) || part.size() > 2 || (part.size() == 2 && part[0] > '5')) return false;
    std::uint64_t number = 0;
    std::from_chars(part.data(), part.data() + part.size(), number);
    total = total * 60 + number;
    if (part.size() == text.size()) return true;
    text.remove_prefix(part.size() + 1);
  }
  return false;
}

// The value of an int of YAML 1.1, as a text: 010, 1_000, 0b11, -0x1F, 1:30. "a number" if it is too long to be
// computed.
std::optional<std::string> OldInt(std::string_view plain) {
  const std::string sign = plain.starts_with('-') ? "-" : "";
  const std::string_view rest = WithoutSign(plain);
  const auto of_base = [&](std::string_view text, int base) -> std::optional<std::string> {
    const std::string digits = Digits(text);
    if (digits.empty()) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (error != std::errc()) return "a number";
    return (number == 0 ? "" : sign) + std::to_string(number);
  };
  const auto in = [](std::string_view set) { return [set](char c) { return set.find(c) != std::string_view::npos; }; };
  if (rest.empty() || !IsDigit(rest[0])) return std::nullopt;
  if (rest.starts_with("0b")) return All(rest.substr(2), in("01_")) ? of_base(rest.substr(2), 2) : std::nullopt;
  if (rest.starts_with("0x")) {
    return All(rest.substr(2), in("0123456789abcdefABCDEF_")) ? of_base(rest.substr(2), 16) : std::nullopt;
  }
  if (rest[0] == '0') return All(rest, in("01234567_")) ? of_base(rest, 8) : std::nullopt;
  const std::string_view first = rest.substr(0, rest.find(':'));
  if (!All(first, IsDigitOr_)) return std::nullopt;
  if (first.size() == rest.size()) return of_base(rest, 10);
  std::uint64_t total = 0;
  const std::string digits = Digits(first);
  constexpr std::size_t kMostDigits = 9;
  if (digits.size() > kMostDigits) return "a number";
  std::from_chars(digits.data(), digits.data() + digits.size(), total);
  if (!Sexagesimal(rest.substr(first.size() + 1), total)) return std::nullopt;
  return sign + std::to_string(total);
}

// The same for a float: with a '.', and an exponent that has a sign: 1.0e+5, 1_0.5, 1:30.5. Its text has no '_'.
std::optional<std::string> OldFloat(std::string_view plain) {
  std::string_view rest = WithoutSign(plain);
  const bool has_sign = rest.size() != plain.size();
  const std::string sign = plain.starts_with('-') ? "-" : "";
  if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos || point < colon) return std::nullopt;
    std::uint64_t total = 0;
    const std::string first = Digits(rest.substr(0, colon));
    constexpr std::size_t kMostDigits = 9;
    if (!IsDigit(rest[0]) || !All(rest.substr(0, colon), IsDigitOr_) || first.size() > kMostDigits) return std::nullopt;
    std::from_chars(first.data(), first.data() + first.size(), total);
    const std::string_view fraction = rest.substr(point + 1);
    if (!fraction.empty() && !All(fraction, IsDigitOr_)) return std::nullopt;
    if (!Sexagesimal(rest.substr(colon + 1, point - colon - 1), total)) return std::nullopt;
    return sign + std::to_string(total) + "." + (fraction.empty() ? "0" : Digits(fraction));
  }
  if (const std::size_t exponent = rest.find_first_of("eE"); exponent != std::string_view::npos) {
    const std::string_view power = rest.substr(exponent + 1);
    if (power.empty() || IsDigit(power[0]) || !IsDecimal(power)) return std::nullopt;
    rest = rest.substr(0, exponent);
  }
  const std::size_t point = rest.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  const std::string_view whole = rest.substr(0, point);
  const std::string_view fraction = rest.substr(point + 1);
  if (whole.empty() ? has_sign || fraction.empty() || !IsDigit(fraction[0]) : !IsDigit(whole[0])) return std::nullopt;
  if (!std::all_of(whole.begin(), whole.end(), IsDigitOr_)) return std::nullopt;
  if (!std::all_of(fraction.begin(), fraction.end(), IsDigitOr_)) return std::nullopt;
  return Digits(plain);
}

// 2024-01-31, or 2024-1-31 and a time of day.
bool IsOldDate(std::string_view plain) {
  const auto digits = [&plain](std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < plain.size() && IsDigit(plain[count])) ++count;
    plain.remove_prefix(count);
    return count >= least;
  };
  const auto take = [&plain](std::string_view any) {
    if (plain.empty() || any.find(plain[0]) == std::string_view::npos) return false;
    plain.remove_prefix(1);
    return true;
  };
  const auto skip_blanks = [&] {
    while (take(" \t")) {
    }
  };
  const std::string_view all = plain;
  if (!digits(4, 4) || !take("-") || !digits(1, 2) || !take("-") || !digits(1, 2)) return false;
  if (plain.empty()) return all.size() == std::string_view("2024-01-31").size();
  if (!take("Tt")) {
    if (!take(" \t")) return false;
    skip_blanks();
  }
  if (!digits(1, 2) || !take(":") || !digits(2, 2) || !take(":") || !digits(2, 2)) return false;
  if (take(".")) digits(0, plain.size());
  if (plain.empty()) return true;
  skip_blanks();
  if (take("Z")) return plain.empty();
  if (!take("+-") || !digits(1, 2)) return false;
  return plain.empty() || (take(":") && digits(2, 2) && plain.empty());
}

double NumberOf(const std::string& text) {
  double number = std::nan("");
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  std::from_chars(begin, text.data() + text.size(), number);
  return number;
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
    return Value(number);
  }
  if (OneOf(WithoutSign(plain), kInfinity) || OneOf(plain, kNan)) {
    return tl::unexpected(std::string(plain) + " is not a finite number");
  }
  return Value(plain);
}

std::optional<std::string> YamlOldMeaning(std::string_view plain, bool as_key) {
  if (OneOf(plain, kOldTrue)) return "true";
  if (OneOf(plain, kOldFalse)) return "false";
  if (plain == "=" && !as_key) return "a special value that PyYAML refuses";
  if (plain == "<<" && !as_key) return "a merge key, which PyYAML refuses as a value";
  if (IsOldDate(plain)) return "a date";
  const auto now = YamlScalarValue(plain);
  auto old = OldInt(plain);
  const bool is_int = old.has_value();
  if (!old) old = OldFloat(plain);
  if (now && now->IsNumber()) {
    if (!old) return "the text " + Quoted(plain);
    const bool same = (now->AsInt() != nullptr) == is_int && *old != "a number" && NumberOf(*old) == now->Number();
    return same ? std::nullopt : old;
  }
  return old;
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
