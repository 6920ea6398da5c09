// Values as JSON: ints stay ints, other numbers are floats, null is null; duplicate keys, numbers that no
// double holds and nesting deeper than 64 are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

nlohmann::json ToJson(const Value& value);

// What a JSON text may become in memory, in bytes: values, keys and texts as they are kept, and the paths of keys where
// these are wanted. A text that would become more is refused before it does.
inline constexpr std::size_t kMostJsonBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMostJsonFileBytes = std::size_t{64} << 20;  // of a file that a recipe reads or ships

// The JSON text as a Value, or one line that says what is wrong with it and where.
tl::expected<Value, std::string> ValueFromJsonText(std::string_view text, std::size_t most_bytes = kMostJsonBytes);

// A file's content, with the line (from 1) of what is wrong with it.
struct JsonProblem {
  std::string message;
  std::uint32_t line = 1;
};
tl::expected<Value, JsonProblem> ValueFromJsonFile(std::string_view text);

// The same with the lines of all keys of objects: "rdr.mode" -> 3. Keys of objects inside lists have the path of the
// list.
struct LocatedJson {
  Value value;
  std::map<std::string, std::uint32_t> lines;
};
tl::expected<LocatedJson, JsonProblem> LocatedJsonFromText(std::string_view text);

}  // namespace muster
