// Values as JSON: ints stay ints, other numbers are floats, null is null; duplicate keys, numbers that no
// double holds and nesting deeper than 64 are refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

nlohmann::json ToJson(const Value& value);

// The JSON text as a Value, or one line that says what is wrong with it and where.
tl::expected<Value, std::string> ValueFromJsonText(std::string_view text);

// The same with the lines, from 1, of all keys of objects: "rdr.mode" -> 3. Keys of objects inside lists have the
// path of the list.
struct LocatedJson {
  Value value;
  std::map<std::string, std::uint32_t> lines;
};
struct JsonProblem {
  std::string message;
  std::uint32_t line = 1;
};
tl::expected<LocatedJson, JsonProblem> LocatedJsonFromText(std::string_view text);

}  // namespace muster
