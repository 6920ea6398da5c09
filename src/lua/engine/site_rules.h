// The site's rules over a finished plan (lua/muster/rules.lua).
#pragma once

#include <lua.hpp>

#include "lua/host/host.h"

namespace muster {

// Runs the site's rules named by the request on the plan, and reports their findings. Does nothing if there are none,
// or after errors. `rules` is the module, in the registry.
void JudgePlan(lua_State* lua, Host& host, int rules);

}  // namespace muster
