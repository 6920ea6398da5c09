// Loading muster's own Lua files into a state, from bytecode where that fits the interpreter.
#pragma once

#include <string>

#include <lua.hpp>

namespace muster {

// Pushes the file's function and returns true, or pushes a message. `path` is like "muster/job.lua".
bool LoadOwnChunk(lua_State* lua, const std::string& path);
// The same; raises a Lua error instead of returning false.
void PushOwnChunk(lua_State* lua, const std::string& path);

// While muster's own files are loaded nothing becomes garbage that is worth looking for: what they make stays.
void StopCollecting(lua_State* lua);
void CollectAgain(lua_State* lua);

}  // namespace muster
