// Reads members of maps that come from JSON. A missing member, or one of another type, reads as empty: the caller
// checks required members.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/value.h"

namespace muster {

// Null if there is no such member, or if the value is no map.
const Value* FieldOf(const Value::Map& map, const std::string& name);
const Value* FieldOf(const Value& value, const std::string& name);

std::string TextField(const Value::Map& map, const std::string& name);
std::string TextField(const Value& value, const std::string& name);
std::int64_t NumberField(const Value& value, const std::string& name);  // a whole number; 0 for nothing
bool TruthField(const Value& value, const std::string& name);
const Value::List& ListField(const Value& value, const std::string& name);
// The texts of a list; other elements are skipped.
std::vector<std::string> TextsField(const Value& value, const std::string& name);

}  // namespace muster
