// A point of a space: the swept names with their values, and its identity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/value.h"

namespace muster {

using Point = Value::Map;

// 16 hex digits of SHA-256 over the names and values, sorted; -0 is 0. The swept names and values only: adding a value
// to an axis changes no other point's id.
std::string PointId(const Point& point);

// The id as a number; nothing if the text is no id.
std::optional<std::uint64_t> PointNumber(const std::string& id);

// "lr=0.1, workers=4".
std::string PointText(const Point& point);

}  // namespace muster
