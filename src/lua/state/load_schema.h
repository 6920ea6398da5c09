// Provides the schema of the context API: the archive that is part of the program, or the records of a developer's
// files.
#pragma once

#include <optional>

#include <lua.hpp>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

// The archived schema; nothing if a developer's file replaces any of muster's.
std::optional<Schema> EmbeddedSchema();

// The archived schema, or the records of the developer's files. Raises a Lua error if a file is not a list of records;
// errors in records are returned. Both only happen with a developer's files: the build checks those that are part of
// the program.
Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema);

}  // namespace muster
