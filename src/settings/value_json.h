// Values as JSON: ints stay ints, other numbers are floats, null is null; duplicate keys, numbers that no
// double holds and nesting deeper than 64 are refused.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#include "muster/value.h"

namespace muster {

nlohmann::json ToJson(const Value& value);

// The JSON text as a Value, or one line that says what is wrong with it and where.
tl::expected<Value, std::string> ValueFromJsonText(std::string_view text);

}  // namespace muster
