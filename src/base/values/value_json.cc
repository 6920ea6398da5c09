#include "base/values/value_json.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/quoting.h"

namespace muster {

const Value* FieldOf(const Value::Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

const Value* FieldOf(const Value& value, const std::string& name) {
  return value.AsMap() == nullptr ? nullptr : FieldOf(*value.AsMap(), name);
}

const Value& ValueField(const Value& value, const std::string& name) {
  static const Value kNull;
  const Value* field = FieldOf(value, name);
  return field == nullptr ? kNull : *field;
}

std::string TextField(const Value::Map& map, const std::string& name) {
  const Value* field = FieldOf(map, name);
  return field != nullptr && field->AsString() != nullptr ? *field->AsString() : std::string();
}

std::string TextField(const Value& value, const std::string& name) {
  return value.AsMap() == nullptr ? std::string() : TextField(*value.AsMap(), name);
}

std::int64_t NumberField(const Value& value, const std::string& name) {
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsInt() != nullptr ? *field->AsInt() : 0;
}

bool TruthField(const Value& value, const std::string& name) {
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsBool() != nullptr && *field->AsBool();
}

const Value::List& ListField(const Value& value, const std::string& name) {
  static const Value::List kNone;
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsList() != nullptr ? *field->AsList() : kNone;
}

std::vector<std::string> TextsField(const Value& value, const std::string& name) {
  std::vector<std::string> texts;
  for (const Value& text : ListField(value, name)) {
    if (text.AsString() != nullptr) texts.push_back(*text.AsString());
  }
  return texts;
}

nlohmann::json ToJson(const Value& value) {
  struct Visitor {
    nlohmann::json operator()(const Null&) const { return nullptr; }
    nlohmann::json operator()(bool boolean) const { return boolean; }
    nlohmann::json operator()(std::int64_t integer) const { return integer; }
    nlohmann::json operator()(double number) const { return number; }
    nlohmann::json operator()(const std::string& text) const { return text; }
    nlohmann::json operator()(const Value::List& list) const {
      auto json = nlohmann::json::array();
      for (const Value& element : list) json.push_back(ToJson(element));
      return json;
    }
    nlohmann::json operator()(const Value::Map& map) const {
      auto json = nlohmann::json::object();
      for (const auto& [key, mapped] : map) json[key] = ToJson(mapped);
      return json;
    }
  };
  return std::visit(Visitor{}, value.data());
}

Value TextOrNull(const std::string& text) { return text.empty() ? Value() : Value(text); }

nlohmann::json ReadableOrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(Readable(text));
}

namespace {

// Builds the Value while parsing, in order to detect duplicate keys and excessive depth (the DOM would hide both).
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  // `line_now`, if given, returns the line of the last byte read, for every key and every element of a list.
  explicit ValueBuilder(std::size_t most_bytes, std::function<std::uint32_t()> line_now = nullptr)
      : most_bytes_(most_bytes), line_now_(std::move(line_now)) {}

  bool null() override { return Add(Value()); }
  bool boolean(bool value) override { return Add(Value(value)); }
  bool number_integer(number_integer_t value) override { return Add(Value(std::int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return Add(Value(static_cast<std::int64_t>(value)));
    }
    return Add(Value(static_cast<double>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return Add(Value(value)); }
  bool string(string_t& value) override { return Take(value.size()) && Add(Value(std::move(value))); }
  bool binary(binary_t&) override { return Refuse("binary data"); }
  bool start_object(std::size_t) override { return Open(Value(Value::Map{})); }
  bool start_array(std::size_t) override { return Open(Value(Value::List{})); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    const Value::Map* map = open_.back().value.AsMap();
    if (map->contains(key)) return Refuse("the key \"" + key + "\" appears twice");
    Container& object = open_.back();
    constexpr std::size_t kNode = 64;  // of a tree, besides its content
    if (!Take(key.size() + kNode)) return false;
    if (line_now_) {
      if (!Take(2 * (object.path.size() + key.size()) + kNode)) return false;
      object.key_path = object.path.empty() ? key : object.path + "." + key;
      lines.emplace(object.key_path, line_now_());
    }
    object.key = std::move(key);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    error_position = position;
    constexpr int kNumberOverflow = 406;  // the library's documented exception number
    return Refuse((problem.id == kNumberOverflow ? "a number is too large at byte " : "not valid JSON at byte ") +
                  std::to_string(position));
  }

  std::optional<Value> result;
  std::string error;
  std::optional<std::size_t> error_position;  // of invalid JSON: bytes read
  std::map<std::string, std::uint32_t> lines;
  std::map<std::string, std::vector<std::uint32_t>> elements;

 private:
  struct Container {
    Value value;
    std::string path;      // of this container
    std::string key;       // last read
    std::string key_path;  // with `path`
  };

  bool Refuse(std::string why) {
    if (error.empty()) error = std::move(why);
    return false;
  }
  bool Open(Value container) {
    constexpr std::size_t kMaxDepth = 64;
    if (open_.size() >= kMaxDepth) return Refuse("nested deeper than 64");
    std::string path;
    if (line_now_ && !open_.empty()) {
      const Container& outer = open_.back();
      if (!Take(outer.path.size() + outer.key_path.size()) || !Locate()) return false;
      const Value::List* const list = outer.value.AsList();
      path = list == nullptr ? outer.key_path : outer.path + "[" + std::to_string(list->size() + 1) + "]";
    }
    open_.push_back({std::move(container), std::move(path), {}, {}});
    return true;
  }
  // Records the line of an element that begins, or is read in whole, if the value is in a list.
  bool Locate() {
    if (!line_now_ || open_.empty() || open_.back().value.AsList() == nullptr) return true;
    const auto [lines_of_list, is_new] = elements.try_emplace(open_.back().path);
    constexpr std::size_t kNode = 64;
    if (!Take(sizeof(std::uint32_t) + (is_new ? kNode + open_.back().path.size() : 0))) return false;
    lines_of_list->second.push_back(line_now_());
    return true;
  }
  bool Close() {
    Value closed = std::move(open_.back().value);
    open_.pop_back();
    return Put(std::move(closed));
  }
  // Reserves so many bytes; false if the limit is exceeded.
  bool Take(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= most_bytes_) return true;
    return Refuse("it would take more than " + std::to_string(most_bytes_ >> 20) + " MiB of memory");
  }
  bool Add(Value value) { return Locate() && Put(std::move(value)); }
  bool Put(Value value) {
    if (!Take(sizeof value)) return false;
    if (open_.empty()) {
      result = std::move(value);
      return true;
    }
    auto& data = open_.back().value.data();
    if (auto* list = std::get_if<Value::List>(&data)) {
      list->push_back(std::move(value));
    } else {
      std::get<Value::Map>(data)[open_.back().key] = std::move(value);
    }
    return true;
  }

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::function<std::uint32_t()> line_now_;
  std::vector<Container> open_;
};

// An iterator over a text that exposes how far the parser has read, which the parser itself does not. When the parser
// reports a key, it has read exactly to the key's closing quote; a number, one byte more.
class WatchedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  WatchedIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  WatchedIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  WatchedIterator operator++(int) {
    WatchedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const WatchedIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

tl::expected<Value, std::string> ValueFromJsonText(std::string_view text, std::size_t most_bytes) {
  ValueBuilder builder(most_bytes);
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (!parsed || !builder.result) {
    return tl::unexpected(builder.error.empty() ? std::string("not valid JSON") : builder.error);
  }
  return *std::move(builder.result);
}

namespace {

// `with_lines`: of all keys and elements.
tl::expected<LocatedJson, JsonProblem> FromFile(std::string_view text, bool with_lines) {
  if (text.starts_with(kByteOrderMark)) {
    return tl::unexpected(JsonProblem{"not valid JSON: it begins with a byte order mark", 1});
  }
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* reached = begin;
  const char* counted = begin;
  std::uint32_t line = 1;
  const auto line_at = [&](const char* position) {
    if (position <= counted) return line;
    line += static_cast<std::uint32_t>(std::count(counted, position, '\n'));
    counted = position;
    return line;
  };
  ValueBuilder builder(kMaxJsonFileBytes,
                       with_lines ? [&] { return line_at(reached - 1); } : std::function<std::uint32_t()>());
  const bool parsed =
      nlohmann::json::sax_parse(WatchedIterator(begin, &reached), WatchedIterator(end, &reached), &builder);
  if (parsed && builder.result)
    return LocatedJson{*std::move(builder.result), std::move(builder.lines), std::move(builder.elements)};

  JsonProblem problem{builder.error.empty() ? "not valid JSON" : std::move(builder.error), 1};
  const char* last = std::max(counted, reached);
  if (builder.error_position) {
    // The last byte read is part of the error, unless it is the end of the text.
    const std::size_t read = std::min(*builder.error_position, text.size());
    last = std::max(counted, begin + (read == 0 ? 0 : read - 1));
    const std::size_t newline = text.substr(0, static_cast<std::size_t>(last - begin)).rfind('\n');
    const std::size_t column =
        static_cast<std::size_t>(last - begin) - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    problem.message =
        problem.message.substr(0, problem.message.find(" at byte ")) + " at column " + std::to_string(column);
  }
  problem.line = line_at(last);
  return tl::unexpected(std::move(problem));
}

}  // namespace

tl::expected<Value, JsonProblem> ValueFromJsonFile(std::string_view text) {
  auto read = FromFile(text, false);
  if (!read) return tl::unexpected(std::move(read.error()));
  return std::move(read->value);
}

tl::expected<LocatedJson, JsonProblem> LocatedJsonFromText(std::string_view text) { return FromFile(text, true); }

}  // namespace muster
