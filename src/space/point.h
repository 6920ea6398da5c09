// A point of a space: the values of the swept names, and its id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/value.h"

namespace muster {

using Point = Value::Map;

// 16 hex digits of SHA-256 over the sorted names and values; -0 counts as 0. Depends on these only: adding a value to
// an axis changes no other point's id.
std::string PointId(const Point& point);

// The id as a number; nothing if the text is no valid id.
std::optional<std::uint64_t> PointNumber(const std::string& id);

// "lr=0.1, workers=4".
std::string PointText(const Point& point);

}  // namespace muster
