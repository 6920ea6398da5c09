// Sources of muster's own Lua files: compiled in, or below $MUSTER_LUA_PATH while developing. The override
// is read once, before the evaluator locks itself down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Reads all files below the folder instead of those compiled in. Fails silently to nothing that is missing:
// a file that is not there is taken from the program.
void OverrideEmbeddedSources(const std::string& folder);

std::optional<std::string> EmbeddedSource(const std::string& path);  // "muster/job.lua"

// The same file as the build's interpreter read it; none if it is not kept so, or a developer's file takes its place.
std::optional<std::string_view> EmbeddedBytecode(const std::string& path);

}  // namespace muster
