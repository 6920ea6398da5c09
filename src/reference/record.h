// Reading the records that muster's own Lua files return: what is missing, or has another type, counts as empty.
#pragma once

#include <string>
#include <vector>

#include "muster/value.h"

namespace muster {

// The field, or null. The record may be no map.
const Value& FieldOf(const Value& record, const char* key);
std::string TextOf(const Value& record, const char* key);
bool TruthOf(const Value& record, const char* key);
const Value::List& ListOf(const Value& record, const char* key);

// "`text`", as pages mark words of programs.
std::string Ticked(const std::string& text);

std::vector<std::string> LinesOf(const std::string& text);

}  // namespace muster
