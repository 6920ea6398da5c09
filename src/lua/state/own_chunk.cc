#include "lua/state/own_chunk.h"

#include "lua/state/embedded_source.h"

namespace muster {

bool LoadOwnChunk(lua_State* lua, const std::string& path) {
  const std::string name = '=' + path;
  if (const auto bytecode = EmbeddedBytecode(path)) {
    if (luaL_loadbufferx(lua, bytecode->data(), bytecode->size(), name.c_str(), "b") == 0) return true;
    lua_pop(lua, 1);  // made by another interpreter than this one
  }
  const auto text = EmbeddedSource(path);
  if (!text) {
    lua_pushfstring(lua, "%s is not part of the program", path.c_str());
    return false;
  }
  return luaL_loadbufferx(lua, text->data(), text->size(), name.c_str(), "t") == 0;
}

void PushOwnChunk(lua_State* lua, const std::string& path) {
  if (!LoadOwnChunk(lua, path)) lua_error(lua);
}

}  // namespace muster
