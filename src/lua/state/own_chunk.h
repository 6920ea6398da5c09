// Loads muster's own Lua files into a state, from bytecode if it fits the interpreter.
#pragma once

#include <string>

#include <lua.hpp>

namespace muster {

// Pushes the file's function and returns true, or pushes a message. `path` as in "muster/job.lua".
bool LoadOwnChunk(lua_State* lua, const std::string& path);
// The same; raises a Lua error instead of returning false.
void PushOwnChunk(lua_State* lua, const std::string& path);

}  // namespace muster
