#include "settings/value_json.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace muster {

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

namespace {

// Builds the Value while parsing, so that duplicate keys and depth are seen (the DOM would hide both).
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
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
  bool string(string_t& value) override { return Add(Value(std::move(value))); }
  bool binary(binary_t&) override { return Refuse("binary data"); }
  bool start_object(std::size_t) override { return Open(Value(Value::Map{})); }
  bool start_array(std::size_t) override { return Open(Value(Value::List{})); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& key) override {
    const Value::Map* map = open_.back().value.AsMap();
    if (map->contains(key)) return Refuse("the key \"" + key + "\" appears twice");
    open_.back().key = std::move(key);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    constexpr int kNumberOverflow = 406;  // the library's documented number of the exception
    return Refuse((problem.id == kNumberOverflow ? "a number is too large at byte " : "not valid JSON at byte ") +
                  std::to_string(position));
  }

  std::optional<Value> result;
  std::string error;

 private:
  struct Container {
    Value value;
    std::string key;
  };

  bool Refuse(std::string why) {
    if (error.empty()) error = std::move(why);
    return false;
  }
  bool Open(Value container) {
    constexpr std::size_t kMaxDepth = 64;
    if (open_.size() >= kMaxDepth) return Refuse("nested deeper than 64");
    open_.push_back({std::move(container), {}});
    return true;
  }
  bool Close() {
    Value closed = std::move(open_.back().value);
    open_.pop_back();
    return Add(std::move(closed));
  }
  bool Add(Value value) {
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

  std::vector<Container> open_;
};

}  // namespace

tl::expected<Value, std::string> ValueFromJsonText(std::string_view text) {
  ValueBuilder builder;
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (!parsed || !builder.result) {
    return tl::unexpected(builder.error.empty() ? std::string("not valid JSON") : builder.error);
  }
  return *std::move(builder.result);
}

}  // namespace muster
