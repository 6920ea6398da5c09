// What a site file returned, as a plain value, with the lines of its keys: Lua tells none for what a table holds, so
// they are found in the text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <lua.hpp>

#include "evaluation/exchange/evaluation.h"
#include "lua/host/host.h"

namespace muster {

// The lines on which keys of the first table constructor at or after `line` are written, by path: "hosts",
// "environment.set.NAME". A key that is computed, or is no name, has none; nor has what a table in parentheses holds.
std::map<std::string, std::uint32_t> KeyLines(std::string_view text, std::uint32_t line);

// The value at `returned`, which must be what muster.site gives, or a plain table if the page of an engine is wanted;
// nothing, with a report, if it is something else.
// `muster` is the index of the module's table.
std::optional<SiteFileTable> ReadSiteTable(lua_State* lua, Host& host, int muster, int returned);

// Adds to the provenance of every role the site's variables that nothing above the site says anything of.
void ReportSiteVariables(Host& host);

}  // namespace muster
