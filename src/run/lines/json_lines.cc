#include "run/lines/json_lines.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster {
void LineReader::Get(std::string& text) {
  if (!Take('"')) return Fail();
  const auto special = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; };
  auto end = std::find_if(rest_.begin(), rest_.end(), special);
  const bool escaped = end != rest_.end() && *end == '\\';
  while (end != rest_.end() && *end == '\\')
    end = std::find_if(end + std::min<std::ptrdiff_t>(2, rest_.end() - end), rest_.end(), special);
  if (end == rest_.end() || *end != '"') return Fail();
  const auto size = static_cast<std::size_t>(end - rest_.begin());
  if (!escaped) {
    text.assign(rest_.data(), size);
  } else {
    const auto value = ValueFromJsonText("\"" + std::string(rest_.substr(0, size + 1)));
    if (!value || value->AsString() == nullptr) return Fail();
    text = *value->AsString();
  }
  rest_.remove_prefix(size + 1);
}

void LineReader::Get(bool& truth) {
  truth = Take("true");
  if (!truth && !Take("false")) Fail();
}

void LineReader::Get(double& number) {
  if (Take("null")) {
    number = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  Value value;
  Get(value);
  if (!value.IsNumber()) return Fail();
  number = value.Number();
}

void LineReader::Get(std::pair<std::uint64_t, std::uint64_t>& range) {
  if (!Take('[')) return Fail();
  Get(range.first);
  if (!Take(',')) return Fail();
  Get(range.second);
  if (!Take(']') || range.second < range.first) Fail();
}

void LineReader::Get(Value& value) {
  if (rest_.empty()) return Fail();
  switch (rest_.front()) {
    case '"': {
      std::string text;
      Get(text);
      value = Value(std::move(text));
      return;
    }
    case '[': {
      Value::List list;
      Get(list);
      value = Value(std::move(list));
      return;
    }
    case '{': {
      Value::Map map;
      Get(map);
      value = Value(std::move(map));
      return;
    }
    case 't':
    case 'f': {
      bool truth = false;
      Get(truth);
      value = Value(truth);
      return;
    }
    case 'n':
      value = Value();
      if (!Take("null")) Fail();
      return;
    default:
      break;
  }
  const std::size_t size = std::min(rest_.find_first_not_of("+-.0123456789e"), rest_.size());
  const char* const end = rest_.data() + size;
  std::int64_t whole = 0;
  const auto [whole_end, whole_error] = std::from_chars(rest_.data(), end, whole);
  if (whole_error == std::errc() && whole_end == end) {
    value = Value(whole);
  } else {
    double number = 0;
    const auto [number_end, error] = std::from_chars(rest_.data(), end, number);
    if (error != std::errc() || number_end != end) return Fail();
    value = Value(number);
  }
  rest_.remove_prefix(size);
}

void LineReader::Get(std::map<double, double>& numbers) {
  numbers.clear();
  Elements('[', ']', [&] {
    double key = 0;
    double number = 0;
    if (!Take('[')) return Fail();
    Get(key);
    if (!Take(',')) return Fail();
    Get(number);
    if (!Take(']')) return Fail();
    numbers.emplace_hint(numbers.end(), key, number);
  });
}

}  // namespace muster
