// Access to the records that muster's own Lua files return: missing values, and values of another type, count as empty.
#pragma once

#include <string>
#include <vector>

#include "muster/value.h"

namespace muster {

// The field, or null; also for a record that is no map.
const Value& FieldOf(const Value& record, const char* key);
std::string TextOf(const Value& record, const char* key);
bool TruthOf(const Value& record, const char* key);
const Value::List& ListOf(const Value& record, const char* key);

// "`text`", the form of code words on pages.
std::string Ticked(const std::string& text);

std::vector<std::string> LinesOf(const std::string& text);

}  // namespace muster
