#include "sweep/record/line_reader.h"

#include <limits>

#include "settings/values/value_json.h"

namespace muster {

void LineReader::Get(std::string& text) {
  if (!Take('"')) return Refuse();
  std::size_t end = 0;
  bool escaped = false;
  while (end < rest_.size() && rest_[end] != '"') {
    if (static_cast<unsigned char>(rest_[end]) < 0x20) return Refuse();
    if (rest_[end] == '\\') {
      escaped = true;
      ++end;
    }
    ++end;
  }
  if (end >= rest_.size()) return Refuse();
  if (!escaped) {
    text.assign(rest_.substr(0, end));
  } else {
    const auto value = ValueFromJsonText("\"" + std::string(rest_.substr(0, end + 1)));
    if (!value || value->AsString() == nullptr) return Refuse();
    text = *value->AsString();
  }
  rest_.remove_prefix(end + 1);
}

void LineReader::Get(bool& truth) {
  truth = Take("true");
  if (!truth && !Take("false")) Refuse();
}

void LineReader::Get(double& number) {
  if (Take("null")) {
    number = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  Value value;
  Get(value);
  if (!value.IsNumber()) return Refuse();
  number = value.Number();
}

void LineReader::Get(std::optional<double>& number) {
  number.reset();
  if (!Take("null")) Get(number.emplace());
}

void LineReader::Get(TrialClass& trial_class) {
  for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
    const std::string_view name = kTrialClassNames[i];
    if (rest_.size() < name.size() + 2 || rest_[0] != '"' || rest_.compare(1, name.size(), name) != 0 ||
        rest_[name.size() + 1] != '"') {
      continue;
    }
    rest_.remove_prefix(name.size() + 2);
    trial_class = static_cast<TrialClass>(i);
    return;
  }
  Refuse();
}

void LineReader::Get(std::pair<std::uint64_t, std::uint64_t>& range) {
  if (!Take('[')) return Refuse();
  Get(range.first);
  if (!Take(',')) return Refuse();
  Get(range.second);
  if (!Take(']') || range.second < range.first) Refuse();
}

void LineReader::Get(Value& value) {
  if (rest_.empty()) return Refuse();
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
      if (!Take("null")) Refuse();
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
    if (error != std::errc() || number_end != end) return Refuse();
    value = Value(number);
  }
  rest_.remove_prefix(size);
}

void LineReader::Get(std::map<std::string, Value>& values) {
  values.clear();
  std::string name;
  Elements('{', '}', [&] {
    Get(name);
    if (!Take(':')) return Refuse();
    const auto [at, fresh] = values.try_emplace(name);
    if (!fresh) return Refuse();
    Get(at->second);
  });
}

void LineReader::Get(std::map<double, double>& numbers) {
  numbers.clear();
  Elements('[', ']', [&] {
    double key = 0;
    double number = 0;
    if (!Take('[')) return Refuse();
    Get(key);
    if (!Take(',')) return Refuse();
    Get(number);
    if (!Take(']')) return Refuse();
    numbers.emplace_hint(numbers.end(), key, number);
  });
}

}  // namespace muster
