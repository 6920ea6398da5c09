// What line_writer.h writes, read back in one pass: members in the order in which they are written, no blanks. Any
// other JSON is no line of a sweep's journal. Untrusted bytes: whoever reads asks ok() at the end.
#pragma once

#include <charconv>
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

class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }

  template <class T>
  void operator()(std::string_view name, T& value) {
    if (Name(name)) {
      Get(value);
    } else {
      Refuse();
    }
  }
  template <class T>
  void Unless(std::string_view name, T& value, const T& usual = {}) {
    value = usual;
    if (Name(name)) Get(value);
  }
  void Constant(std::string_view name, std::uint64_t number) {
    std::uint64_t found = 0;
    (*this)(name, found);
    if (found != number) Refuse();
  }

  void Get(std::string& text);
  void Get(bool& truth);
  void Get(double& number);  // NaN for null
  void Get(Value& value);
  void Get(TrialClass& trial_class);
  void Get(std::optional<double>& number);
  template <std::integral T>
  void Get(T& number) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return Refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  }
  void Get(std::pair<std::uint64_t, std::uint64_t>& range);
  void Get(std::map<double, double>& numbers);
  void Get(std::map<std::string, Value>& values);
  template <class T>
  void Get(std::vector<T>& list) {
    list.clear();
    Elements('[', ']', [&] { Get(list.emplace_back()); });
  }
  template <class T>
  requires requires(LineReader& a, T& e) { JournalFields(a, e); }
  void Get(T& object) {
    first_ = true;
    if (!Take('{')) return Refuse();
    JournalFields(*this, object);
    first_ = false;
    if (!Take('}')) Refuse();
  }
  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

 private:
  static constexpr int kMaxDepth = 80;  // more than a value has that was read as JSON (settings/values/value_json.h)

  bool Name(std::string_view name) {
    const std::size_t comma = first_ ? 0 : 1;
    if (rest_.size() < comma + name.size() + 3 || (comma != 0 && rest_[0] != ',') || rest_[comma] != '"' ||
        rest_.compare(comma + 1, name.size(), name) != 0 || rest_[comma + 1 + name.size()] != '"' ||
        rest_[comma + 2 + name.size()] != ':') {
      return false;
    }
    rest_.remove_prefix(comma + name.size() + 3);
    first_ = false;
    return true;
  }

  // A list or an object, `one` for each element.
  template <class F>
  void Elements(char open, char close, const F& one) {
    if (++depth_ > kMaxDepth || !Take(open)) return Refuse();
    if (!Take(close)) {
      do one();
      while (ok_ && Take(','));
      if (!Take(close)) Refuse();
    }
    --depth_;
  }

  void Refuse() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
  bool first_ = false;  // the next member is the first of its object
  int depth_ = 0;
};

}  // namespace muster
