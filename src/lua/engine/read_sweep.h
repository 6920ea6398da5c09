// Converts a sweep, as passed by lua/muster/sweep.lua, to its description. Reports errors in it.
#pragma once

#include "evaluation/resolve/resolve.h"
#include "lua/host/host.h"
#include "space/sweep_description.h"

namespace muster {

// From the plain table at `index`; names and values are checked against the declarations.
SweepDescription ReadSweep(lua_State* lua, Host& host, int index, const Declared& declared,
                           const ParameterNames& names);

}  // namespace muster
