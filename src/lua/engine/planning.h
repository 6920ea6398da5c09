// The steps from a loaded recipe to the job that its plan function describes, for every plan and every judged point.
// All run inside a protected call.
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

// Loads the schema of the context API, if it is not loaded yet (Host::schema_problems).
void NeedSchema(lua_State* lua, Host& host);

// Where the recipe at `recipe` is written.
Place PlaceOfRecipe(lua_State* lua, const Host& host, int recipe);

// Its declarations, with the values of its extensions and of the requested profiles. Calls `read`, if not empty, with
// the index of the table returned by settle (recipe.lua).
Declared SettleRecipe(lua_State* lua, Host& host, const OwnModules& modules, int recipe, const Place& place,
                      const std::function<void(int)>& read = {});

// Resolves the overrides of the request, then `more`, against the declarations. Reports errors.
Resolved ResolveRequest(Host& host, const Declared& declared, const ParameterNames& names,
                        const std::vector<Override>& more);

// Sets hosts, secrets and context of the plan draft.
void BeginJob(lua_State* lua, Host& host, int recipe, const Place& place, const Resolved& resolved);

// Calls the plan function through `function` of layout.lua, with further arguments that `push` pushes (and counts).
void CallLayout(lua_State* lua, Host& host, const OwnModules& modules, const char* function, int recipe,
                const Resolved& resolved, const Place& place, const std::function<int()>& push = {});

}  // namespace muster
