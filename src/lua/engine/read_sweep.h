// A sweep as lua/muster/sweep.lua hands it over, as a description. Reports what is wrong with it.
#pragma once

#include "evaluation/resolve/resolve.h"
#include "lua/host/host.h"
#include "space/sweep_description.h"

namespace muster {

// From the plain table at `index`; names and values are those of the recipe that declared `declared`.
SweepDescription ReadSweep(lua_State* lua, Host& host, int index, const Declared& declared,
                           const ParameterNames& names);

}  // namespace muster
