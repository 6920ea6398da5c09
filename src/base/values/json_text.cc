#include "base/values/json_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/deceptive.h"
#include "base/values/utf8.h"

namespace muster {
namespace {

// Of a valid UTF-8 sequence of at most three bytes.
unsigned CodePoint(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(sequence[i])); };
  if (sequence.size() == 1) return byte(0);
  if (sequence.size() == 2) return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
}

// Commands print JSON on terminals, which obey more characters than those that JSON has escaped. Outside of strings it
// has none of them.
std::string WithoutDeceptive(std::string json) {
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
  const auto first = std::find_if_not(json.begin(), json.end(), ascii);
  if (first == json.end()) return json;

  std::string escaped(json.begin(), first);
  std::string_view rest = std::string_view(json).substr(escaped.size());
  while (!rest.empty()) {
    const std::string_view sequence = rest.substr(0, std::max<std::size_t>(Utf8Length(rest), 1));
    rest.remove_prefix(sequence.size());
    // Line ends between members are no part of a string.
    if (ascii(sequence[0]) || !IsDeceptive(sequence)) {
      escaped += sequence;
      continue;
    }
    fmt::format_to(std::back_inserter(escaped), "\\u{:04x}", CodePoint(sequence));
  }
  return escaped;
}

// Writes text directly, without building a second tree with the JSON library: writing the files of a run is most of the
// head's computation.
struct Writer {
  std::string& text;

  void operator()(const Null&) const { text += "null"; }
  void operator()(bool boolean) const { text += boolean ? "true" : "false"; }
  void operator()(std::int64_t integer) const {
    const fmt::format_int digits(integer);
    text.append(digits.data(), digits.size());
  }
  void operator()(double number) const { text += SerializedJson(nlohmann::json(number)); }
  void operator()(const std::string& string) const { AppendJsonString(string, text); }
  void operator()(const Value::List& list) const {
    char before = '[';
    for (const Value& element : list) {
      text += std::exchange(before, ',');
      std::visit(*this, element.data());
    }
    text += list.empty() ? "[]" : "]";
  }
  void operator()(const Value::Map& map) const {
    char before = '{';
    for (const auto& [key, mapped] : map) {
      text += std::exchange(before, ',');
      AppendJsonString(key, text);
      text += ':';
      std::visit(*this, mapped.data());
    }
    text += map.empty() ? "{}" : "}";
  }
};

}  // namespace

std::string JsonText(const Value& value) {
  std::string text;
  AppendJson(value, text);
  return text;
}

void AppendJson(const Value& value, std::string& text) { std::visit(Writer{text}, value.data()); }

void AppendJsonString(std::string_view string, std::string& text) {
  const bool plain =
      std::all_of(string.begin(), string.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (!plain) {
    text += SerializedJson(nlohmann::json(string));
    return;
  }
  text += '"';
  text += string;
  text += '"';
}

std::string SerializedJson(const nlohmann::json& json, int indent) {
  return WithoutDeceptive(json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string SerializedJson(const nlohmann::ordered_json& json, int indent) {
  return WithoutDeceptive(json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace muster
