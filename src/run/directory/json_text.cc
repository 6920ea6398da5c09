#include "run/directory/json_text.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

void Append(const nlohmann::json& leaf, std::string& text) {
  text += leaf.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void AppendText(const std::string& string, std::string& text) {
  const bool plain =
      std::all_of(string.begin(), string.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (!plain) return Append(string, text);
  text += '"';
  text += string;
  text += '"';
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
  void operator()(double number) const { Append(number, text); }
  void operator()(const std::string& string) const { AppendText(string, text); }
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
      AppendText(key, text);
      text += ':';
      std::visit(*this, mapped.data());
    }
    text += map.empty() ? "{}" : "}";
  }
};

}  // namespace

std::string JsonText(const Value& value) {
  std::string text;
  std::visit(Writer{text}, value.data());
  return text;
}

}  // namespace muster
