// How a C++ function becomes a Lua function: exceptions are turned into Lua errors at one point. A Lua
// error itself passes as a foreign exception and is left alone, destructors run either way.
#pragma once

#include <exception>
#include <string>

#include <lua.hpp>

namespace muster {

template <int (*Function)(lua_State*)>
int Guarded(lua_State* lua) {
  try {
    return Function(lua);
  } catch (const std::exception& exception) {
    lua_pushstring(lua, exception.what());
  }
  return lua_error(lua);
}

}  // namespace muster
