// Conversions between C++ values and the Lua stack. There are no others; values that cannot be converted (functions,
// coroutines, userdata, cdata) are refused, with their type.
#pragma once

#include <functional>
#include <optional>
#include <set>
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

// Lua has one kind of number. Tables that this function makes remember which of their numbers were ints and which were
// floats, so that 1.0 of a file or of a float parameter is written as 1.0 again (Numbers::kTyped), even after a recipe
// has assigned another number to the same key.
void PushTypedValue(lua_State* lua, const Value& value);
// The table at `table` remembers that the number at the key on top of the stack, which is popped, is a float.
void MarkFloat(lua_State* lua, int table);
// What the table at `table` remembers of the key at `key`: true for a float, false for an int.
std::optional<bool> IsMarkedFloat(lua_State* lua, int table, int key);

// Converts a plain Lua value: a number without fraction is an int (exact up to 2^53), a table with keys 1..n is a list,
// a table with string keys a map, an empty table an empty map unless PushValue made it from an empty list. A view of a
// table of muster's own is converted as that table. List elements in a map ({ 2, min = 1 }) get the keys "1", "2", ….
// On failure returns false and sets `why`: values that are not plain, gaps in lists, nan and inf, more than 32 levels
// or a million elements.
bool ToValue(lua_State* lua, int index, Value& value, std::string& why);

// The same for a text that another program reads: whole numbers that their table remembers as floats, and those of
// maps at a key of `float_keys` that their table does not remember at all, are doubles.
bool ToTypedValue(lua_State* lua, int index, const std::set<std::string, std::less<>>& float_keys, Value& value,
                  std::string& why);

// The text of the string or number at `index`; numbers are written exactly. Empty for other types.
bool ToExactText(lua_State* lua, int index, std::string& text);

// The field's string, or empty; leaves the stack as it was. No metamethods.
std::string RawStringField(lua_State* lua, int table, const char* key);

}  // namespace muster
