// Maps that come from JSON, a member at a time. A member that is not there, or is of another kind than is wanted, reads
// as nothing: what must be there is for the caller to say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/value.h"

namespace muster {

// Null if there is none, or if the value is no map.
const Value* FieldOf(const Value::Map& map, const std::string& name);
const Value* FieldOf(const Value& value, const std::string& name);

std::string TextField(const Value::Map& map, const std::string& name);
std::string TextField(const Value& value, const std::string& name);
std::int64_t NumberField(const Value& value, const std::string& name);  // a whole number; 0 for nothing
bool TruthField(const Value& value, const std::string& name);
const Value::List& ListField(const Value& value, const std::string& name);
// The texts of a list; what else stands in it is left out.
std::vector<std::string> TextsField(const Value& value, const std::string& name);

}  // namespace muster
