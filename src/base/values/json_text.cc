#include "base/values/json_text.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

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
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string SerializedJson(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace muster
