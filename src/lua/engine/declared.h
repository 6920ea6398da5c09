// The declarations of a recipe as plain values, read before its plan function is called. Reports errors in them.
#pragma once

#include <lua.hpp>

#include "evaluation/resolve/resolve.h"
#include "lua/host/host.h"

namespace muster {

// From the table at `settled`, the result of recipe.lua's settle; `place` is the recipe's.
Declared ReadDeclared(lua_State* lua, Host& host, int settled, const Place& place);

// The options of engines that the recipe sets, by engine and name.
std::vector<EngineField> ReadEngineFields(lua_State* lua, Host& host, int settled);
// Where the recipe's metrics are read, as recipe.lua checked it, and the place of that table.
LogMetrics ReadLogMetrics(lua_State* lua, Host& host, int settled, Place& place);

// The recipe's profiles, by name.
std::vector<ProfileFacts> ReadProfiles(lua_State* lua, Host& host, int settled);

}  // namespace muster
