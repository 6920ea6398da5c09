#include "base/values/value_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"

namespace muster {

double Value::Number() const {
  if (const auto* integer = AsInt()) return static_cast<double>(*integer);
  if (const auto* number = AsDouble()) return *number;
  return 0;
}

std::string_view Value::TypeName() const {
  static constexpr std::string_view kNames[] = {"nil", "bool", "int", "float", "string", "list", "map"};
  return kNames[data_.index()];
}

namespace {

bool IsName(const std::string& key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9')) return false;
  for (const char c : key) {
    const bool word = IsLetterOrDigit(c) || c == '_';
    if (!word) return false;
  }
  return true;
}

void Append(std::string& out, const Value& value) {
  struct Visitor {
    std::string& out;
    void operator()(const Null&) const { out += "null"; }
    void operator()(bool boolean) const { out += boolean ? "true" : "false"; }
    void operator()(std::int64_t integer) const { out += std::to_string(integer); }
    void operator()(double number) const { out += NumberText(number); }
    void operator()(const std::string& text) const { out += Quoted(text); }
    void operator()(const Value::List& list) const {
      out += '{';
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += ", ";
        Append(out, list[i]);
      }
      out += '}';
    }
    void operator()(const Value::Map& map) const {
      out += '{';
      bool first = true;
      for (const auto& [key, mapped] : map) {
        if (!first) out += ", ";
        first = false;
        if (IsName(key)) {
          out += key;
        } else {
          out += '[' + Quoted(key) + ']';
        }
        out += " = ";
        Append(out, mapped);
      }
      out += '}';
    }
  };
  std::visit(Visitor{out}, value.data());
}

}  // namespace

std::string ToText(const Value& value) {
  std::string out;
  Append(out, value);
  return out;
}

std::string ShownNumber(double number) {
  constexpr std::size_t kMax = 32;
  std::array<char, kMax> text{};
  std::snprintf(text.data(), text.size(), "%.6g", number);
  // A number with no more digits keeps the form that it has everywhere.
  return !std::isfinite(number) || std::strtod(text.data(), nullptr) == number ? NumberText(number) : text.data();
}

std::string ShownValue(const Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (const double* number = value.AsDouble()) return ShownNumber(*number);
  return ToText(value);
}

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
