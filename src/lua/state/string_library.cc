#include "lua/state/string_library.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lua/state/host_function.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"

namespace muster {
namespace {

constexpr double kLongestString = 64.0 * (1 << 20);

// Upvalue 1 is the original, upvalue 2 its name. No hook is called inside it, so the place is recorded in case the
// evaluator must be killed while it runs.
int NotedCall(lua_State* lua) {
  State::Of(lua).Here(lua);
  const int arguments = lua_gettop(lua);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  if (lua_pcall(lua, arguments, LUA_MULTRET, 0) == 0) return lua_gettop(lua);
  // Called from here, the original does not know its name: "bad argument #1 to '?'".
  std::string message;
  constexpr std::string_view kNameless = "bad argument #";
  if (lua_type(lua, -1) == LUA_TSTRING && ToExactText(lua, -1, message) && message.starts_with(kNameless)) {
    const std::size_t mark = message.find("'?'");
    if (mark != std::string::npos) message.replace(mark + 1, 1, lua_tostring(lua, lua_upvalueindex(2)));
    PushText(lua, message);
  }
  return lua_error(lua);
}

int BoundedRep(lua_State* lua) {
  std::size_t size = 0;
  luaL_checklstring(lua, 1, &size);
  const double count = luaL_checknumber(lua, 2);
  std::size_t separator = 0;
  if (!lua_isnoneornil(lua, 3)) luaL_checklstring(lua, 3, &separator);
  if (count > 0 && static_cast<double>(size + separator) * count > kLongestString) {
    return luaL_error(lua, "string.rep would make more than 64 MiB");
  }
  return NotedCall(lua);
}

// Replaces what %s would print with 14 digits, or with an address that differs from run to run, by its exact
// text.
int ExactFormat(lua_State* lua) {
  std::size_t size = 0;
  const char* format = luaL_checklstring(lua, 1, &size);
  int argument = 1;
  for (std::size_t i = 0; i < size; ++i) {
    if (format[i] != '%') continue;
    if (++i < size && format[i] == '%') continue;
    while (i < size && std::strchr("-+ #0123456789.", format[i]) != nullptr && format[i] != '\0') ++i;
    ++argument;
    if (i >= size) break;
    if (format[i] == 'p') return luaL_error(lua, "string.format does not offer %%p: addresses differ from run to run");
    if (format[i] != 's' || argument > lua_gettop(lua) || lua_type(lua, argument) == LUA_TSTRING) continue;
    lua_pushcfunction(lua, Guarded<ExactToString>);
    lua_pushvalue(lua, argument);
    lua_call(lua, 1, 1);
    if (lua_type(lua, -1) != LUA_TSTRING) return luaL_error(lua, "__tostring gave a %s", luaL_typename(lua, -1));
    lua_replace(lua, argument);
  }
  return NotedCall(lua);
}

void Wrap(lua_State* lua, const char* name, lua_CFunction wrapper) {
  lua_getfield(lua, -1, name);
  lua_pushstring(lua, name);
  lua_pushcclosure(lua, wrapper, 2);
  lua_setfield(lua, -2, name);
}

}  // namespace

int ExactToString(lua_State* lua) {
  std::string text;
  if (ToExactText(lua, 1, text)) {
    PushText(lua, text);
    return 1;
  }
  luaL_checkany(lua, 1);
  if (IsNull(lua, 1)) {
    lua_pushliteral(lua, "null");
    return 1;
  }
  if (luaL_callmeta(lua, 1, "__tostring") != 0) return 1;
  switch (lua_type(lua, 1)) {
    case LUA_TNIL:
      lua_pushliteral(lua, "nil");
      break;
    case LUA_TBOOLEAN:
      lua_pushstring(lua, lua_toboolean(lua, 1) != 0 ? "true" : "false");
      break;
    // Addresses differ from run to run, so they are not shown.
    default:
      lua_pushstring(lua, luaL_typename(lua, 1));
      break;
  }
  return 1;
}

void GuardStringLibrary(lua_State* lua) {
  lua_getglobal(lua, LUA_STRLIBNAME);
  for (const char* name : {"find", "match", "gmatch", "gsub"}) Wrap(lua, name, Guarded<NotedCall>);
  Wrap(lua, "rep", Guarded<BoundedRep>);
  Wrap(lua, "format", Guarded<ExactFormat>);
  lua_pushnil(lua);
  lua_setfield(lua, -2, "dump");
  // The metatable of strings: ("x"):rep() calls the guarded functions, and recipes cannot access the metatable.
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_pop(lua, 3);
}

}  // namespace muster
