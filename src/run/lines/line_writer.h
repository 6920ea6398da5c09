// Writes values as JSON text, by the descriptions of their fields (wire/archive/archive.h), for journals and control
// sockets. Members are in the order of the description. Appends to a text.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "muster/value.h"
#include "run/lines/line_forms.h"

namespace muster {

class LineWriter {
 public:
  static constexpr bool kReading = false;

  // Larger unsigned numbers are written as `largest`.
  explicit LineWriter(std::string& line, std::uint64_t largest = std::numeric_limits<std::uint64_t>::max())
      : line_(line), largest_(largest) {}

  // Writes ,"name":value
  template <class T>
  void operator()(std::string_view name, T&& field) {
    Name(name);
    Put(Plain(field));
  }
  template <class T>
  void operator()(std::string_view name, FieldAs<UnlessNone, T> field) {
    if (!IsNone(field.value)) (*this)(name, field.value);
  }
  template <class Field>
  void operator()(std::string_view name, LaterField<Field> later) {
    (*this)(name, later.field);
  }
  void operator()(std::string_view name, FieldAs<UnlessTrue, bool> field) {
    if (!field.value) (*this)(name, field.value);
  }

  // Writes the members of an object whose brace is already written.
  template <class T>
  void Members(const T& object) {
    Fields(*this, const_cast<T&>(object));  // a writer only reads
  }

  // Writes bytes that are not UTF-8 as \xNN.
  void Put(std::string_view text);
  void Put(const std::string& text) { Put(std::string_view(text)); }
  void Put(bool truth) { line_ += truth ? "true" : "false"; }
  void Put(double number);  // null if JSON cannot express the number
  void Put(const Value& value);
  template <std::integral T>
  void Put(T number) {
    if constexpr (std::is_signed_v<T>) {
      PutSigned(number);
    } else {
      PutUnsigned(number);
    }
  }
  template <class E>
  void Put(const NamedMember<E>& member) {
    Put(member.names[static_cast<std::size_t>(member.value)]);
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    if (value) return Put(*value);
    line_ += "null";
  }
  // Writes [first,last].
  void Put(const std::pair<std::uint64_t, std::uint64_t>& range) {
    line_ += '[';
    Put(range.first);
    line_ += ',';
    Put(range.second);
    line_ += ']';
  }
  // Writes a list of pairs, because keys of JSON objects cannot be numbers.
  void Put(const std::map<double, double>& numbers);
  template <class T>
  void Put(const std::map<std::string, T>& values) {
    if (!std::all_of(values.begin(), values.end(), [](const auto& entry) { return IsUtf8(entry.first); })) {
      std::map<std::string, T> readable;
      for (const auto& [name, value] : values) readable.emplace(Readable(name), value);
      return Put(readable);
    }
    char before = '{';
    for (const auto& [name, value] : values) {
      line_ += std::exchange(before, ',');
      Put(name);
      line_ += ':';
      Put(value);
    }
    line_ += values.empty() ? "{}" : "}";
  }
  template <class T>
  void Put(const std::vector<T>& list) {
    char before = '[';
    for (const T& element : list) {
      line_ += std::exchange(before, ',');
      Put(element);
    }
    line_ += list.empty() ? "[]" : "]";
  }
  template <class T>
  requires requires(LineWriter& v, T& e) { Fields(v, e); }
  void Put(const T& object) {
    line_ += '{';
    Members(object);
    line_ += '}';
  }

 private:
  void Name(std::string_view name) {
    line_ += line_.ends_with('{') ? "\"" : ",\"";
    line_ += name;
    line_ += "\":";
  }
  void PutSigned(std::int64_t number);
  void PutUnsigned(std::uint64_t number);

  std::string& line_;
  std::uint64_t largest_;
};

}  // namespace muster
