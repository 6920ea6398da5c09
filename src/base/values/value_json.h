// JSON to and from values: ints stay ints, other numbers are floats, null is null; refuses duplicate keys, numbers
// that do not fit a double and nesting deeper than 64. And members of maps that come from JSON: one that is missing,
// or of another type, reads as empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

// Reads members of maps that come from JSON. A missing member, or one of another type, reads as empty: the caller
// checks required members.

// Null if there is no such member, or if the value is no map.
const Value* FieldOf(const Value::Map& map, const std::string& name);
const Value* FieldOf(const Value& value, const std::string& name);

const Value& ValueField(const Value& value, const std::string& name);  // null for nothing
std::string TextField(const Value::Map& map, const std::string& name);
std::string TextField(const Value& value, const std::string& name);
std::int64_t NumberField(const Value& value, const std::string& name);  // a whole number; 0 for nothing
bool TruthField(const Value& value, const std::string& name);
const Value::List& ListField(const Value& value, const std::string& name);
// The texts of a list; other elements are skipped.
std::vector<std::string> TextsField(const Value& value, const std::string& name);

// Converts JSON to and from values: ints stay ints, other numbers are floats, null is null; refuses duplicate keys,
// numbers that do not fit a double and nesting deeper than 64.

nlohmann::json ToJson(const Value& value);
Value TextOrNull(const std::string& text);               // null if empty
nlohmann::json ReadableOrNull(const std::string& text);  // null if empty; else as Readable has it (quoting.h)

// Memory limit for a parsed JSON text, in bytes: values, keys and texts, and the paths of keys if these are requested.
// A text that would exceed it is refused while parsing.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxJsonFileBytes = std::size_t{64} << 20;  // of a file that a recipe reads or ships

// Parses the JSON text into a Value; the error is one line with its position.
tl::expected<Value, std::string> ValueFromJsonText(std::string_view text, std::size_t most_bytes = kMaxJsonBytes);

// An error in a file's content, with its line (from 1).
struct JsonProblem {
  std::string message;
  std::uint32_t line = 1;
};
tl::expected<Value, JsonProblem> ValueFromJsonFile(std::string_view text);

// A value with the lines of all keys of objects, by path, "rdr.mode" -> 3, and of all elements of lists, by the path of
// their list, "" for the outermost value. The path of an element counts from 1: "rdr.mode[2].name".
struct LocatedJson {
  Value value;
  std::map<std::string, std::uint32_t> lines;
  std::map<std::string, std::vector<std::uint32_t>> elements;
};
tl::expected<LocatedJson, JsonProblem> LocatedJsonFromText(std::string_view text);

}  // namespace muster
