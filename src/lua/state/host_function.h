// Makes a C++ function callable from Lua: converts exceptions to Lua errors. A Lua error itself passes through as a
// foreign exception; destructors run in both cases.
#pragma once

#include <exception>
#include <new>
#include <string>

#include <lua.hpp>

namespace muster {

template <int (*Function)(lua_State*)>
int Guarded(lua_State* lua) {
  try {
    return Function(lua);
  } catch (const std::bad_alloc&) {
    lua_pushliteral(lua, "the plan's values take more memory than an evaluation may use");
  } catch (const std::exception& exception) {
    lua_pushstring(lua, exception.what());
  }
  return lua_error(lua);
}

}  // namespace muster
