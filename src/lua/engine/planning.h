// The steps from a recipe that was read to the job that its plan function describes: what every plan and every judged
// point goes through. All inside a protected call.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "evaluation/resolve/resolve.h"
#include "lua/bind/own_modules.h"
#include "lua/host/host.h"

namespace muster {

// The text in the field of the table, if it is one.
std::optional<std::string> TextOf(lua_State* lua, int table, const char* key);

// The schema of the context API is there from now on (Host::schema_problems).
void NeedSchema(lua_State* lua, Host& host);

// Where the recipe at `recipe` is written.
Place PlaceOfRecipe(lua_State* lua, const Host& host, int recipe);

// What it declares, with what its extensions and the profiles of the request say. Calls `read` with the index of the
// table of settle (recipe.lua), if there is one to call.
Declared SettleRecipe(lua_State* lua, Host& host, const OwnModules& modules, int recipe, const Place& place,
                      const std::function<void(int)>& read = {});

// The overrides of the request, then `more`, against what is declared. Reports what is wrong.
Resolved ResolveRequest(Host& host, const Declared& declared, const ParameterNames& names,
                        const std::vector<Override>& more);

// The plan in the making gets its hosts, secrets and context.
void BeginJob(lua_State* lua, Host& host, int recipe, const Place& place, const Resolved& resolved);

// Calls the plan function through `function` of layout.lua, with what `push` pushes (and counts) as further arguments.
void CallLayout(lua_State* lua, Host& host, const OwnModules& modules, const char* function, int recipe,
                const Resolved& resolved, const Place& place, const std::function<int()>& push = {});

}  // namespace muster
