#include "lua/bind/own_modules.h"

#include <initializer_list>

#include "lua/bind/bind.h"
#include "lua/state/own_chunk.h"
#include "lua/state/stack.h"

namespace muster {

OwnModules LoadOwnModules(lua_State* lua, Host& host) {
  lua_newtable(lua);
  const int host_table = lua_gettop(lua);
  BindLanguage(lua, host);
  BindContext(lua, host);
  BindDevices(lua, host);
  BindArithmetic(lua, host);
  BindFiles(lua, host);
  BindRoles(lua, host);
  BindProcesses(lua, host);
  BindPlan(lua, host);
  BindPoints(lua, host);
  PushNull(lua);
  lua_setfield(lua, host_table, "null");

  const auto load = [&](const char* path, std::initializer_list<int> arguments) {
    PushOwnChunk(lua, path);
    lua_pushvalue(lua, host_table);
    for (const int argument : arguments) lua_pushvalue(lua, argument);
    lua_call(lua, static_cast<int>(arguments.size()) + 1, 1);
    return lua_gettop(lua);
  };
  const int prelude = load("muster/prelude.lua", {});
  const int sections = load("muster/recipe_fields.lua", {});
  const int muster = load("muster/muster.lua", {prelude, sections});
  const int parameters = load("muster/parameters.lua", {muster});
  const int recipes = load("muster/recipe.lua", {prelude, muster, parameters});
  const int sweeps = load("muster/sweep.lua", {prelude, muster, parameters, recipes});
  const int context = load("muster/context.lua", {prelude});
  const int fields = load("muster/fields.lua", {muster, parameters});
  const int policies = load("muster/policy.lua", {muster, fields});
  const int addresses = load("muster/address.lua", {muster, fields});
  const int jobs = load("muster/job.lua", {prelude, muster, fields, policies, addresses});
  const int contracts = load("muster/contract.lua", {prelude, muster, fields});
  const int rendezvous = load("muster/rendezvous.lua", {});
  const int checkpoints = load("muster/checkpoints.lua", {prelude, muster});
  const int containers = load("muster/container.lua", {muster});
  const int notify = load("muster/notify.lua", {muster, fields});
  const int layout =
      load("muster/layout.lua", {prelude, muster, fields, policies, jobs, contracts, rendezvous, parameters, recipes,
                                 checkpoints, sweeps, addresses, containers, notify});
  const int rules = load("muster/rules.lua", {prelude});

  lua_getfield(lua, muster, "api");
  const int api = lua_gettop(lua);
  lua_newtable(lua);
  const auto offer = [&](const char* name, int module) {
    lua_getfield(lua, prelude, "read_only");
    lua_pushvalue(lua, module);
    lua_pushstring(lua, name);
    lua_call(lua, 2, 1);
    lua_setfield(lua, -2, name);
  };
  offer("muster", api);
  for (const char* name : {"muster.context", "muster.mindspore"}) {
    lua_pushvalue(lua, context);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 1);
    lua_setfield(lua, -2, name);
  }
  lua_setfield(lua, LUA_REGISTRYINDEX, "muster.modules");
  const auto kept = [&](int module) {
    lua_pushvalue(lua, module);
    return luaL_ref(lua, LUA_REGISTRYINDEX);
  };
  return {kept(muster), kept(recipes), kept(layout), kept(rules)};
}

}  // namespace muster
