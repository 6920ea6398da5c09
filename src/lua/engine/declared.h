// What a recipe's table says before its plan function is called, as plain values. Reports what is wrong with it.
#pragma once

#include <lua.hpp>

#include "evaluation/resolve/resolve.h"
#include "lua/host/host.h"

namespace muster {

// From the table that recipe.lua's settle gives, at `settled`; `place` is the recipe's.
Declared ReadDeclared(lua_State* lua, Host& host, int settled, const Place& place);

// The options of engines that it sets, by engine and name.
std::vector<EngineField> ReadEngineFields(lua_State* lua, Host& host, int settled);

// The profiles that it has, by name.
std::vector<ProfileFacts> ReadProfiles(lua_State* lua, Host& host, int settled);

}  // namespace muster
