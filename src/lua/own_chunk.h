// Loading muster's own Lua files into a state, from bytecode where that fits the interpreter.
#pragma once

#include <string>

#include <lua.hpp>

namespace muster {

// Pushes the file's function and returns true, or pushes a message. `path` is like "muster/job.lua".
bool LoadOwnChunk(lua_State* lua, const std::string& path);

}  // namespace muster
