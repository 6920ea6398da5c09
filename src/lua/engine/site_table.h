// The table of a site file as a plain value, with the lines of its keys: Lua does not provide these, so they are found
// in the text.
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

// The lines of the keys in the first table constructor at or after `line`, by path: "hosts", "environment.set.NAME".
// Keys that are computed or are not names have none, nor have those of a table in parentheses.
std::map<std::string, std::uint32_t> KeyLines(std::string_view text, std::uint32_t line);

// The value at `returned`, which must be the result of muster.site, or a plain table if the page of an engine is
// requested; nothing, with a report, if it is something else.
// `muster` is the index of the module's table.
std::optional<SiteFileTable> ReadSiteTable(lua_State* lua, Host& host, int muster, int returned);

// Adds the variables of the site to the provenance of every role, unless a layer of higher precedence sets them.
void ReportSiteVariables(Host& host);

}  // namespace muster
