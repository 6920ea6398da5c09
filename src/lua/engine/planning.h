// The steps from a loaded recipe to the job that its plan function describes, for every plan and every judged point:
// its declarations and the site's table as plain values, its plan function, and the site's rules over the finished
// plan. All run inside a protected call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "evaluation/exchange/evaluation.h"
#include "evaluation/resolve/resolve.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"

namespace muster {

// The table of a site file as a plain value, with the lines of its keys: Lua does not provide these, so they are found
// in the text.

// The lines of the keys in the first table constructor at or after `line`, by path: "hosts", "environment.set.NAME".
// Keys that are computed or are not names have none, nor have those of a table in parentheses.
std::map<std::string, std::uint32_t> KeyLines(std::string_view text, std::uint32_t line);

// The value at `returned`, which must be the result of muster.site, or a plain table if the page of an engine is
// requested; nothing, with a report, if it is something else.
// `muster` is the index of the module's table.
std::optional<SiteFileTable> ReadSiteTable(lua_State* lua, Host& host, int muster, int returned);

// Adds the variables of the site to the provenance of every role, unless a layer of higher precedence sets them.
void ReportSiteVariables(Host& host);

// The declarations of a recipe as plain values, read before its plan function is called. Reports errors in them.

// From the table at `settled`, the result of recipe.lua's settle; `place` is the recipe's.
Declared ReadDeclared(lua_State* lua, Host& host, int settled, const Place& place);

// The options of engines that the recipe sets, by engine and name.
std::vector<EngineField> ReadEngineFields(lua_State* lua, Host& host, int settled);
// Where the recipe's metrics are read, as recipe.lua checked it, and the place of that table.
LogMetrics ReadLogMetrics(lua_State* lua, Host& host, int settled, Place& place);

// The recipe's profiles, by name.
std::vector<ProfileFacts> ReadProfiles(lua_State* lua, Host& host, int settled);

// The site's rules over a finished plan (lua/muster/rules.lua).

// Runs the site's rules named by the request on the plan, and reports their findings. Does nothing if there are none,
// or after errors. `rules` is the module, in the registry.
void JudgePlan(lua_State* lua, Host& host, int rules);

// The steps from a loaded recipe to the job that its plan function describes, for every plan and every judged point.
// All run inside a protected call.

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
