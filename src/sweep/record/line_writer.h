// Values as JSON text, quickly: what a sweep's journal writes several times for each trial. Appends to a text.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/value.h"
#include "space/sweep_description.h"

namespace muster {

class LineWriter {
 public:
  explicit LineWriter(std::string& line) : line_(line) {}

  // ,"name":value
  template <class T>
  void operator()(std::string_view name, T& value) {
    Name(name);
    Put(value);
  }
  template <class T>
  void Unless(std::string_view name, T& value, const T& usual = {}) {
    if (!(value == usual)) (*this)(name, value);
  }
  void Constant(std::string_view name, std::uint64_t number) {
    Name(name);
    Put(number);
  }

  // Bytes that are not UTF-8 as \xNN.
  void Put(const std::string& text);
  void Put(bool truth) { line_ += truth ? "true" : "false"; }
  void Put(double number);  // null where JSON has no such number
  void Put(const Value& value);
  void Put(TrialClass trial_class) { Put(std::string(TrialClassName(trial_class))); }
  void Put(const std::optional<double>& number) { Put(number ? Value(*number) : Value()); }
  template <std::integral T>
  void Put(T number) {
    PutInteger(std::is_signed_v<T>, static_cast<std::uint64_t>(number));
  }
  // [first,last]
  void Put(const std::pair<std::uint64_t, std::uint64_t>& range) {
    line_ += '[';
    Put(range.first);
    line_ += ',';
    Put(range.second);
    line_ += ']';
  }
  // A list of pairs: a key of JSON is no number.
  void Put(const std::map<double, double>& numbers);
  void Put(const std::map<std::string, Value>& values);
  template <class T>
  void Put(const std::vector<T>& list) {
    line_ += '[';
    bool first = true;
    for (const T& element : list) {
      if (!std::exchange(first, false)) line_ += ',';
      Put(element);
    }
    line_ += ']';
  }
  template <class T>
  requires requires(LineWriter& a, T& e) { JournalFields(a, e); }
  void Put(const T& object) {
    line_ += '{';
    const std::size_t begin = line_.size();
    JournalFields(*this, const_cast<T&>(object));  // a writer only reads
    if (line_.size() > begin) line_.erase(begin, 1);
    line_ += '}';
  }

 private:
  void Name(std::string_view name) {
    line_ += ",\"";
    line_ += name;
    line_ += "\":";
  }
  void PutInteger(bool is_signed, std::uint64_t number);

  std::string& line_;
};

}  // namespace muster
