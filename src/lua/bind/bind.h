// Adds the functions that recipes call to an interpreter, by subject.
#pragma once

#include <string>

#include <lua.hpp>

#include "lua/host/host.h"

namespace muster {

// The exact text of an argument; empty if it has none.
std::string ArgumentText(lua_State* lua, int index);  // bind_language.cc

void BindLanguage(lua_State* lua, Host& host);    // bind_language.cc: errors, keys, texts, modules
void BindContext(lua_State* lua, Host& host);     // bind_context.cc
void BindArithmetic(lua_State* lua, Host& host);  // bind_arithmetic.cc: exact_div, size, mesh, stages, durations
void BindDevices(lua_State* lua, Host& host);     // bind_devices.cc: devices and cores
void BindFiles(lua_State* lua, Host& host);       // bind_files.cc: files beside the recipe
void BindRoles(lua_State* lua, Host& host);       // bind_roles.cc: placement and roles
void BindProcesses(lua_State* lua, Host& host);   // bind_processes.cc
void BindPlan(lua_State* lua, Host& host);        // bind_plan.cc: ports, activation, derived values
void BindPoints(lua_State* lua, Host& host);      // bind_points.cc: what judging points wants to know

// Once the recipe has described its job: the files of muster.file become the plan's (bind_files.cc), and what
// processes will write is derived and checked (job_paths.cc).
void AddShippedFiles(Host& host);
void ReportWrittenPaths(Host& host);

}  // namespace muster
