// Values between C++ and the Lua stack. The only conversions there are; anything else a recipe may hold
// (functions, coroutines, userdata, cdata) is refused by name.
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

// A plain Lua value as a Value: a number without fraction is an int (exact up to 2^53), a table with keys
// 1..n is a list, a table with string keys a map, an empty table an empty map unless PushValue made it of an empty
// list. What recipes see of a table of muster's own stands for that table. A list's elements that stand in a map ({ 2,
// min = 1 }) get the keys "1", "2", …. On failure returns false and sets `why`: what is no plain value, holes in lists,
// nan and inf, more than 32 levels or a million elements.
bool ToValue(lua_State* lua, int index, Value& value, std::string& why);

// The text of the string or number at `index`; numbers are written exactly. Empty view: neither.
bool ToExactText(lua_State* lua, int index, std::string& text);

// The field's string, or empty; leaves the stack as it was. No metamethods.
std::string RawStringField(lua_State* lua, int table, const char* key);

}  // namespace muster
