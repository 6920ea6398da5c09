// Sources of muster's own Lua files: compiled in, or below $MUSTER_LUA_PATH during development. The variable is read
// once, before the evaluator locks itself down.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Reads all files below the folder, which replace those compiled in. A missing file is not an error: the one in the
// program is used.
void OverrideEmbeddedSources(const std::string& folder);

std::optional<std::string> EmbeddedSource(const std::string& path);  // "muster/job.lua"

// The bytecode of the file; none if the file is not compiled, or replaced by a developer's file.
std::optional<std::string_view> EmbeddedBytecode(const std::string& path);

// The archive that was made of files of data; none if there is no such archive, or if a
// developer's file replaces any of muster's.
std::optional<std::string_view> EmbeddedArchive(const std::string& path);

}  // namespace muster
