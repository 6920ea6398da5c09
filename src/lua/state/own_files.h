// Muster's own Lua files (lua/muster/): compiled in, or below $MUSTER_LUA_PATH during development; loaded into a
// state, from bytecode if it fits the interpreter; and the schema of the context API that comes with them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "base/values/embedded_file.h"
#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

// The Lua files that are part of the program: everything below lua/muster/.

std::span<const EmbeddedFile> EmbeddedLua();
// Files that are loaded for every recipe, under the same names, compiled by precompile.cc. Code that makes tables for
// every process is not compiled: bytecode loses the size of table constructors, so these would grow step by step.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();
// What files of data return, under the same names, archived by archive_data.cc.
std::span<const EmbeddedFile> EmbeddedDataArchives();
// One archive, of the schema in the files below muster/schema/, made by archive_schema.cc.
std::span<const EmbeddedFile> EmbeddedSchemaArchive();
constexpr char kSchemaArchive[] = "muster/schema.archive";

// Sources of muster's own Lua files: compiled in, or below $MUSTER_LUA_PATH during development. The variable is read
// once, before the evaluator locks itself down.

// Reads all files below the folder, which replace those compiled in. A missing file is not an error: the one in the
// program is used.
void OverrideEmbeddedSources(const std::string& folder);

std::optional<std::string> EmbeddedSource(const std::string& path);  // "muster/job.lua"

// The bytecode of the file; none if the file is not compiled, or replaced by a developer's file.
std::optional<std::string_view> EmbeddedBytecode(const std::string& path);

// The archive that was made of files of data; none if there is no such archive, or if a
// developer's file replaces any of muster's.
std::optional<std::string_view> EmbeddedArchive(const std::string& path);

// Loads muster's own Lua files into a state, from bytecode if it fits the interpreter.

// Pushes the file's function and returns true, or pushes a message. `path` as in "muster/job.lua".
bool LoadOwnChunk(lua_State* lua, const std::string& path);
// The same; raises a Lua error instead of returning false.
void PushOwnChunk(lua_State* lua, const std::string& path);

// Pushes what a file of data returns and returns true, or pushes a message. The file gets page(path, environment),
// which returns a file as a function with these globals, text(path), and an empty list, since an empty table is a map.
bool CallOwnFile(lua_State* lua, const std::string& path);

// Provides the schema of the context API: the archive that is part of the program, or the records of a developer's
// files.

// The archived schema; nothing if a developer's file replaces any of muster's.
std::optional<Schema> EmbeddedSchema();

// The archived schema, or the records of the developer's files. Raises a Lua error if a file is not a list of records;
// errors in records are returned. Both only happen with a developer's files: the build checks those that are part of
// the program.
Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema);

}  // namespace muster
