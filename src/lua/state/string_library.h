// The string library of recipes: functions that can run for ever or use much memory in one call first record their
// caller's place; string.rep and string.format have limits; numbers are printed exactly.
#pragma once

#include <lua.hpp>

namespace muster {

// Changes the string library of the state, and protects the metatable of strings.
void GuardStringLibrary(lua_State* lua);

// tostring() of recipes: numbers are written exactly.
int ExactToString(lua_State* lua);

}  // namespace muster
