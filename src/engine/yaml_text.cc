#include "engine/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>
#include <variant>

#include "base/values/json_text.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

// Words of YAML 1.1 that are not texts, in small letters.
constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

bool IsPlain(std::string_view text) {
  if (text.empty() || (std::isalpha(static_cast<unsigned char>(text.front())) == 0 && text.front() != '/'))
    return false;
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
  });
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return plain && std::find(kWords.begin(), kWords.end(), small) == kWords.end();
}

// A text of JSON is one of YAML, too.
std::string Scalar(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

bool IsBlock(const Value& value) {
  return (value.AsMap() != nullptr && !value.AsMap()->empty()) ||
         (value.AsList() != nullptr && !value.AsList()->empty());
}

std::string Flow(const Value& value) {
  return std::visit(Overloaded{
                        [](const Null&) { return std::string("null"); },
                        [](bool one) { return std::string(one ? "true" : "false"); },
                        [](std::int64_t one) { return std::to_string(one); },
                        [](double one) { return NumberText(one); },
                        [](const std::string& one) { return Scalar(one); },
                        [](const Value::List&) { return std::string("[]"); },
                        [](const Value::Map&) { return std::string("{}"); },
                    },
                    value.data());
}

// The lines of a block; the first one continues a line that stands at this depth already.
void Write(const Value& value, std::size_t depth, std::string& out) {
  const std::string indent(depth, ' ');
  bool first = true;
  if (const Value::List* list = value.AsList()) {
    for (const Value& one : *list) {
      if (!std::exchange(first, false)) out += indent;
      out += "- ";
      if (IsBlock(one)) {
        Write(one, depth + 2, out);
      } else {
        out += Flow(one) + "\n";
      }
    }
    return;
  }
  for (const auto& [key, one] : *value.AsMap()) {
    if (!std::exchange(first, false)) out += indent;
    out += Scalar(key) + ":";
    if (!IsBlock(one)) {
      out += " " + Flow(one) + "\n";
      continue;
    }
    const std::size_t inner = one.AsList() != nullptr ? depth : depth + 2;
    out += "\n" + std::string(inner, ' ');
    Write(one, inner, out);
  }
}

}  // namespace

std::string YamlText(const Value& value) {
  if (!IsBlock(value)) return Flow(value) + "\n";
  std::string out;
  Write(value, 0, out);
  return out;
}

}  // namespace muster
