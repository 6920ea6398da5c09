// Muster's own Lua files as one interpreter has them: loaded in order, given the host's functions and each other.
#pragma once

#include "lua/host/host.h"

namespace muster {

// What the engine calls of them, as references in the registry.
struct OwnModules {
  int muster = LUA_NOREF;
  int recipes = LUA_NOREF;
  int layout = LUA_NOREF;
  int rules = LUA_NOREF;
};

// Inside a protected call. Leaves rubbish on the stack.
OwnModules LoadOwnModules(lua_State* lua, Host& host);

}  // namespace muster
