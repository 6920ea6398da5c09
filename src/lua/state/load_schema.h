// Reading the schema of the context API (lua/muster/schema) into values.
#pragma once

#include <lua.hpp>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

// Raises a Lua error if a file is not a list of records; errors in records are returned.
Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema);

}  // namespace muster
