// Loads muster's own Lua files into an interpreter, in order, and passes them the host's functions and each other.
#pragma once

#include "lua/host/host.h"

namespace muster {

// The functions that the engine calls, as references in the registry.
struct OwnModules {
  int muster = LUA_NOREF;
  int recipes = LUA_NOREF;
  int layout = LUA_NOREF;
  int rules = LUA_NOREF;
};

// Must run inside a protected call. Leaves values on the stack.
OwnModules LoadOwnModules(lua_State* lua, Host& host);

}  // namespace muster
