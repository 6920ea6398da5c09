// Conversions between C++ values and the Lua stack. There are no others; values that cannot be converted (functions,
// coroutines, userdata, cdata) are refused, with their type.
#pragma once

#include <string>
#include <string_view>

#include <lua.hpp>

#include "muster/value.h"

namespace muster {

// muster.null: the explicit null value.
inline void PushNull(lua_State* lua) { lua_pushlightuserdata(lua, nullptr); }
bool IsNull(lua_State* lua, int index);

void PushText(lua_State* lua, std::string_view text);
void PushValue(lua_State* lua, const Value& value);

// Converts a plain Lua value: a number without fraction is an int (exact up to 2^53), a table with keys 1..n is a list,
// a table with string keys a map, an empty table an empty map unless PushValue made it from an empty list. A view of a
// table of muster's own is converted as that table. List elements in a map ({ 2, min = 1 }) get the keys "1", "2", ….
// On failure returns false and sets `why`: values that are not plain, gaps in lists, nan and inf, more than 32 levels
// or a million elements.
bool ToValue(lua_State* lua, int index, Value& value, std::string& why);

// The text of the string or number at `index`; numbers are written exactly. Empty for other types.
bool ToExactText(lua_State* lua, int index, std::string& text);

// The field's string, or empty; leaves the stack as it was. No metamethods.
std::string RawStringField(lua_State* lua, int table, const char* key);

}  // namespace muster
