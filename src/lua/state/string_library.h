// The string library as recipes get it: what can run for ever or eat the memory in one call first notes
// where it was called from; string.rep and string.format are held to limits; numbers print exactly.
#pragma once

#include <lua.hpp>

namespace muster {

// Changes the open string library of the state, and locks the metatable of strings.
void GuardStringLibrary(lua_State* lua);

// tostring() as recipes get it: numbers are written exactly.
int ExactToString(lua_State* lua);

}  // namespace muster
