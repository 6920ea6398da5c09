#include "run/directory/metrics_line.h"

#include "base/system/known_secrets.h"
#include "base/values/utf8.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kLongestText = 200;

bool IsReported(const std::string& name, const Value& value) {
  if (name.empty() || name.size() > kLongestText || !IsUtf8(name)) return false;
  const std::string* text = value.AsString();
  return value.IsNull() || value.IsNumber() || value.AsBool() != nullptr ||
         (text != nullptr && text->size() <= kLongestText);
}

// Replaces NaN, Infinity and -Infinity outside strings by null.
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
    std::size_t length = 0;
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
  if (!value && (line.find("NaN") != line.npos || line.find("Infinity") != line.npos)) {
    value = ValueFromJsonText(WithoutNotFinite(line));
  }
  if (!value || value->AsMap() == nullptr) return std::nullopt;
  MetricValues reported;
  for (const auto& [name, one] : *value->AsMap()) {
    if (!IsReported(name, one) || reported.size() == kMostMetricNames) continue;
    const std::string* const text = one.AsString();
    reported.emplace(WithoutSecrets(name), text != nullptr ? Value(WithoutSecrets(*text)) : one);
  }
  return reported;
}

}  // namespace muster
