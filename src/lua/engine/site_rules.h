// The site's rules over a finished plan (lua/muster/rules.lua).
#pragma once

#include <lua.hpp>

#include "lua/host/host.h"

namespace muster {

// Has the rules that the request names judge the plan, and reports what they say; nothing if it names none, or if
// something is wrong already. `rules` is the module, in the registry.
void JudgePlan(lua_State* lua, Host& host, int rules);

}  // namespace muster
