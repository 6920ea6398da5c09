// Parses JSON text that line_writer.h wrote, in one pass and with the same field descriptions. The bytes are untrusted:
// the caller must check ok() or AtEnd() at the end.
#pragma once

#include <algorithm>
#include <charconv>
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

#include "muster/value.h"
#include "run/lines/line_forms.h"

namespace muster {

class LineReader {
 public:
  static constexpr bool kReading = true;

  enum class Order : std::uint8_t {
    kAsWritten,  // members in the order of the description, no others, no whitespace
    kAny         // other members are ignored; the text must be JSON (settings/values/value_json.h)
  };
  // Larger numbers are read as `largest`, numbers below -`largest` as that.
  explicit LineReader(std::string_view text, Order order = Order::kAsWritten,
                      std::uint64_t largest = std::numeric_limits<std::uint64_t>::max())
      : rest_(text), any_order_(order == Order::kAny), largest_(largest) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }
  void Fail() {
    ok_ = false;
    rest_ = object_ = {};
  }

  // Reads the object's opening brace; the closing one may be missing at the end of the text.
  void Begin() {
    if (!Take('{')) return Fail();
    object_ = rest_;
    first_ = true;
  }
  // Inlined, so that names are compared as constants: that saves a tenth of the cost of a line.
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, T&& field) {
    if (!Member(name)) return Fail();
    Get(Plain(field));
  }
  template <class T>
  [[gnu::always_inline]] void operator()(std::string_view name, FieldAs<UnlessNone, T> field) {
    field.value = T{};
    if (Member(name)) Get(field.value);
  }
  template <class Field>
  [[gnu::always_inline]] void operator()(std::string_view name, LaterField<Field> later) {
    if (Member(name)) Get(Plain(later.field));
  }
  void operator()(std::string_view name, FieldAs<UnlessTrue, bool> field) {
    field.value = true;
    if (Member(name)) Get(field.value);
  }

  void Get(std::string& text);
  void Get(bool& truth);
  void Get(double& number);  // NaN for null
  void Get(Value& value);
  template <std::integral T>
  void Get(T& number) {
    SkipBlanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const bool is_whole = end == rest_.data() + rest_.size() || (*end != '.' && *end != 'e' && *end != 'E');
    if (error != std::errc() || !is_whole) return Fail();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if constexpr (std::same_as<T, std::uint64_t>) number = std::min(number, largest_);
    if constexpr (std::same_as<T, std::int64_t>) number = std::clamp(number, -Most(), Most());
  }
  template <class E>
  void Get(NamedMember<E>& member) {
    if (!Take('"')) return Fail();
    const std::string_view name = rest_.substr(0, rest_.find('"'));
    const auto found = std::find(member.names.begin(), member.names.end(), name);
    if (found == member.names.end() || name.size() == rest_.size()) return Fail();
    rest_.remove_prefix(name.size() + 1);
    member.value = static_cast<E>(found - member.names.begin());
  }
  template <class T>
  void Get(std::optional<T>& value) {
    value.reset();
    if (!Take("null")) Get(value.emplace());
  }
  void Get(std::pair<std::uint64_t, std::uint64_t>& range);
  void Get(std::map<double, double>& numbers);
  template <class T>
  void Get(std::map<std::string, T>& values) {
    values.clear();
    std::string name;
    Elements('{', '}', [&] {
      Get(name);
      if (!Take(':')) return Fail();
      const auto [at, fresh] = values.try_emplace(name);
      if (!fresh) return Fail();
      Get(at->second);
    });
  }
  template <class T>
  void Get(std::vector<T>& list) {
    list.clear();
    Elements('[', ']', [&] { Get(list.emplace_back()); });
  }
  template <class T>
  requires requires(LineReader& v, T& e) { Fields(v, e); }
  void Get(T& object) {
    const std::string_view outer = object_;
    Begin();
    Fields(*this, object);
    first_ = false;
    if (any_order_) FindEnd();
    if (!Take('}')) return Fail();
    object_ = outer;
  }

 private:
  static constexpr int kMaxDepth = 80;  // more than values from settings/values/value_json.h have

  // Moves to the value of the member in the current object.
  [[gnu::always_inline]] bool Member(std::string_view name) { return IsNext(name) || (any_order_ && Find(name)); }
  [[gnu::always_inline]] bool IsNext(std::string_view name) {
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
  // Looks for the member from the beginning of the object; moves to the object's end if it does not exist.
  bool Find(std::string_view name);
  void FindEnd() { Find({}); }
  void SkipValue();

  std::int64_t Most() const {
    return static_cast<std::int64_t>(std::min(largest_, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
  }

  void SkipBlanks() {
    if (!rest_.empty() && static_cast<unsigned char>(rest_.front()) <= ' ') SkipTheseBlanks();
  }
  void SkipTheseBlanks();
  bool Take(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    SkipBlanks();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Reads a list or an object; calls `one` for each element.
  template <class F>
  void Elements(char open, char close, const F& one) {
    if (++depth_ > kMaxDepth || !Take(open)) return Fail();
    if (!Take(close)) {
      do one();
      while (ok_ && Take(','));
      if (!Take(close)) Fail();
    }
    --depth_;
  }

  std::string_view rest_;
  std::string_view object_;  // from its first member on
  bool any_order_;
  bool ok_ = true;
  bool first_ = false;  // the next member is the first of its object
  int depth_ = 0;
  std::uint64_t largest_;
};

}  // namespace muster
