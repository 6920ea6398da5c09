#include "metrics/metrics_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/system/known_secrets.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

bool IsReported(const std::string& name, const Value& value) {
  if (name.empty() || name.size() > kMaxMetricText || !IsUtf8(name)) return false;
  const std::string* text = value.AsString();
  return value.IsNull() || value.IsNumber() || value.AsBool() != nullptr ||
         (text != nullptr && text->size() <= kMaxMetricText);
}

// The length of a number at the beginning of the text that no double can hold, such as 1e400; else 0.
std::size_t LengthOfTooLarge(std::string_view text) {
  const std::size_t length = std::min(text.find_first_not_of("+-.0123456789eE"), text.size());
  if (length == 0) return 0;
  const std::string number(text.substr(0, length));
  char* end = nullptr;
  return std::isinf(std::strtod(number.c_str(), &end)) && *end == '\0' ? length : 0;
}

// Replaces NaN, Infinity, -Infinity and numbers that are too large outside strings by null.
std::string WithoutNotFinite(std::string_view text) {
  std::string plain;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      plain += c;
      if (c == '\\' && i + 1 < text.size()) plain += text[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    const bool begins = i == 0 || std::string_view("+-.0123456789eE").find(text[i - 1]) == std::string_view::npos;
    std::size_t length = begins ? LengthOfTooLarge(text.substr(i)) : 0;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (text.substr(i).starts_with(word)) length = word.size();
    }
    if (length > 0) {
      plain += "null";
      i += length - 1;
    } else {
      plain += c;
    }
  }
  return plain;
}

}  // namespace

std::optional<MetricValues> MetricsLine(std::string_view line) {
  auto value = ValueFromJsonText(line);
  if (!value) value = ValueFromJsonText(WithoutNotFinite(line));
  if (!value || value->AsMap() == nullptr) return std::nullopt;
  MetricValues reported;
  for (const auto& [name, one] : *value->AsMap()) {
    if (!IsReported(name, one) || reported.size() == kMaxMetricNames) continue;
    const std::string* const text = one.AsString();
    reported.emplace(WithoutSecrets(name), text != nullptr ? Value(WithoutSecrets(*text)) : one);
  }
  return reported;
}

namespace {

class PlainLine {
 public:
  explicit PlainLine(std::string_view line) : rest_(line) {}

  // False: not such a line.
  bool Read(MetricNumbers& numbers) {
    constexpr std::size_t kMaxMembers = 32;
    numbers.clear();
    names_.clear();
    if (!Skip('{') || Next() == '}') return false;
    while (names_.size() < kMaxMembers) {
      std::string_view name;
      if (!Text(name) || name.empty() || !Skip(':')) return false;
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) return false;
      names_.push_back(name);
      if (!Member(name, numbers)) return false;
      if (Skip('}')) return Next() == '\0';
      if (!Skip(',')) return false;
    }
    return false;
  }

 private:
  char Next() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) {
      rest_.remove_prefix(1);
    }
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool Skip(char c) {
    if (Next() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Text(std::string_view& text) {
    if (!Skip('"')) return false;
    const std::size_t end = rest_.find('"');
    if (end == rest_.npos || end > kMaxMetricText) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
  }

  bool Member(std::string_view name, MetricNumbers& numbers) {
    const char c = Next();
    if (c == '"') {
      std::string_view text;
      return Text(text);
    }
    if (IsDigit(c) || c == '-') return Number(name, numbers);
    for (const std::string_view word : {"null", "true", "false"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      if (word == "null") numbers.emplace_back(name, std::numeric_limits<double>::quiet_NaN());
      return true;
    }
    return false;
  }

  bool Number(std::string_view name, MetricNumbers& numbers) {
    const std::string_view digits = rest_.substr(rest_.front() == '-' ? 1 : 0);
    if (digits.empty() || !IsDigit(digits[0]) || (digits[0] == '0' && digits.size() > 1 && IsDigit(digits[1]))) {
      return false;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const std::size_t length = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc{} || rest_[length - 1] == '.' || rest_.substr(0, length).find(".e") != rest_.npos ||
        rest_.substr(0, length).find(".E") != rest_.npos) {
      return false;
    }
    rest_.remove_prefix(length);
    numbers.emplace_back(name, number);
    return true;
  }

  std::string_view rest_;
  std::vector<std::string_view> names_;
};

}  // namespace

bool ReadPlainNumbers(std::string_view line, MetricNumbers& numbers) { return PlainLine(line).Read(numbers); }

std::optional<double> FiniteNumber(const Value& value) {
  return value.IsNumber() && std::isfinite(value.Number()) ? std::optional(value.Number()) : std::nullopt;
}

void KeepLast(const MetricValues& report, MetricValues& last) {
  for (const auto& [name, value] : report) {
    if (value.IsNull()) {
      last.erase(name);
    } else if (last.size() < kMaxMetricNames || last.contains(name)) {
      last[name] = value;
    }
  }
}

std::string MetricsText(const MetricValues& values) {
  constexpr std::size_t kMaxValues = 4;
  std::string text;
  std::size_t shown = 0;
  const auto add = [&](const std::string& name, const Value& value) {
    if (!value.IsNumber() || shown++ >= kMaxValues) return;
    text += fmt::format("{}{} {:.5g}", text.empty() ? "" : ", ", name, value.Number());
  };
  const auto counts = [](const std::string& name) { return name == "step" || name == "epoch" || name == "iteration"; };
  for (const auto& [name, value] : values) {
    if (counts(name)) add(name, value);
  }
  for (const auto& [name, value] : values) {
    if (!counts(name)) add(name, value);
  }
  return Printable(text);
}

namespace {

// Removes ".17" from the end of the text.
std::optional<std::uint32_t> TakeNumber(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber<std::uint32_t>(text.substr(dot + 1));
  if (number) text = text.substr(0, dot);
  return number;
}

}  // namespace

std::string MetricsFileName::Process() const { return fmt::format("{}.{}", role, index); }

std::string MetricsFileName::Name() const { return fmt::format("{}.{}.{}{}", role, index, attempt, kMetricsEnding); }

std::string MetricsFileName::Path() const { return fmt::format("{}/{}", kMetricsEntry.name, Name()); }

std::optional<MetricsFileName> ParseMetricsFileName(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return std::nullopt;
  name.remove_suffix(ending.size());
  const auto attempt = TakeNumber(name);
  const auto index = attempt ? TakeNumber(name) : std::nullopt;
  if (!index || name.empty()) return std::nullopt;
  return MetricsFileName{std::string(name), *index, *attempt};
}

}  // namespace muster
