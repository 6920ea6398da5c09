// Value: the value of a parameter, a context attribute or a derived setting. Plain data with a total order of map keys,
// so that equal values print alike.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster {

struct Null {
  bool operator==(const Null&) const = default;
};

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::map<std::string, Value>;

  Value() = default;                                          // null
  Value(Null) {}                                              // NOLINT(google-explicit-constructor)
  Value(bool boolean) : data_(boolean) {}                     // NOLINT(google-explicit-constructor)
  Value(std::int64_t integer) : data_(integer) {}             // NOLINT(google-explicit-constructor)
  Value(int integer) : data_(std::int64_t{integer}) {}        // NOLINT(google-explicit-constructor)
  Value(double number) : data_(number) {}                     // NOLINT(google-explicit-constructor)
  Value(std::string text) : data_(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  Value(std::string_view text) : data_(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  Value(const char* text) : data_(std::string(text)) {}       // NOLINT(google-explicit-constructor)
  Value(List list) : data_(std::move(list)) {}                // NOLINT(google-explicit-constructor)
  Value(Map map) : data_(std::move(map)) {}                   // NOLINT(google-explicit-constructor)

  bool IsNull() const { return std::holds_alternative<Null>(data_); }
  const bool* AsBool() const { return std::get_if<bool>(&data_); }
  const std::int64_t* AsInt() const { return std::get_if<std::int64_t>(&data_); }
  // A number with a fractional part, or one too large for an int64.
  const double* AsDouble() const { return std::get_if<double>(&data_); }
  const std::string* AsString() const { return std::get_if<std::string>(&data_); }
  const List* AsList() const { return std::get_if<List>(&data_); }
  const Map* AsMap() const { return std::get_if<Map>(&data_); }
  bool IsNumber() const { return AsInt() != nullptr || AsDouble() != nullptr; }
  // The number as a double; 0 for other types.
  double Number() const;

  // "nil", "bool", "int", "float", "string", "list" or "map": the name in error messages.
  std::string_view TypeName() const;

  bool operator==(const Value&) const = default;

  using Data = std::variant<Null, bool, std::int64_t, double, std::string, List, Map>;
  const Data& data() const { return data_; }
  Data& data() { return data_; }

 private:
  Data data_;
};

// The value in recipe syntax: 3, 0.5, true, "CPU", {1, 2}, {a = 1}. Numbers print exactly: integers in full, others
// with the fewest digits that read back as the same double.
std::string ToText(const Value& value);

// A double with the fewest digits that read back as the same number; "inf", "-inf", "nan".
std::string NumberText(double number);

}  // namespace muster
