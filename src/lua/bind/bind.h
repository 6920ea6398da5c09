// Adds the functions that recipes call to an interpreter, by subject, and loads muster's own Lua files, which get
// these functions and each other. Here are the functions that belong to no part of a plan: reporting, sorted keys,
// exact texts, modules, requests to the parent process, and arithmetic (divisions, meshes, stages, sizes and
// durations).
#pragma once

#include <string>

#include <lua.hpp>

#include "lua/host/host.h"

namespace muster {

// Adds the functions that recipes call to an interpreter, by subject.

// The exact text of an argument; empty if it is neither string nor number.
std::string ArgumentText(lua_State* lua, int index);  // lua/bind/bind.cc

void BindLanguage(lua_State* lua, Host& host);    // lua/bind/bind.cc: errors, keys, texts, modules
void BindContext(lua_State* lua, Host& host);     // bind_context.cc
void BindArithmetic(lua_State* lua, Host& host);  // lua/bind/bind.cc: exact_div, size, mesh, stages, durations
void BindDevices(lua_State* lua, Host& host);     // lua/bind/bind_roles.cc: devices and cores
void BindFiles(lua_State* lua, Host& host);       // lua/bind/bind_plan.cc: files beside the recipe
void BindRoles(lua_State* lua, Host& host);       // bind_roles.cc: placement and roles
void BindProcesses(lua_State* lua, Host& host);   // lua/bind/bind_roles.cc
void BindPlan(lua_State* lua, Host& host);        // bind_plan.cc: ports, activation, derived values
void BindPoints(lua_State* lua, Host& host);      // lua/bind/bind_plan.cc: for judging points

// Called after the recipe has described its job: adds the files of muster.file to the plan (lua/bind/bind_plan.cc), and
// derives and checks the paths that processes will write (lua/bind/bind_plan.cc).
void AddShippedFiles(Host& host);
void ReportWrittenPaths(Host& host);

// Loads muster's own Lua files into an interpreter, in order, and passes them the host's functions and each other.

// The functions that the engine calls, as references in the registry.
struct OwnModules {
  int muster = LUA_NOREF;
  int recipes = LUA_NOREF;
  int layout = LUA_NOREF;
  int rules = LUA_NOREF;
};

// Must run inside a protected call. Leaves values on the stack.
OwnModules LoadOwnModules(lua_State* lua, Host& host);

}  // namespace muster
