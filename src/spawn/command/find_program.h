// Which file a command's first word means, and where muster's other programs are. Knows PATH and file modes; starts
// nothing.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "spawn/command/spawn_spec.h"

namespace muster {

// The path to execute, absolute or relative to the child's folder, looked for as execvp(3) does: with a
// slash it is taken as it is; else the folders of the PATH in `spec.env` (an empty entry is the child's
// folder, no PATH at all is confstr's default), then `spec.search_dirs`. A name found only as something that
// cannot be executed fails with EACCES or, for a folder, EISDIR, rather than ENOENT.
tl::expected<std::string, SpawnError> FindProgram(const SpawnSpec& spec);

// Why execve(2) of an existing `path` failed with `error`, as a phrase.
std::string ExecFailure(const SpawnSpec& spec, const std::string& path, int error);

// In the folder of the program that this process runs, whatever links lead there; whether there is one is not looked
// at. Empty without /proc.
std::string BesideOwnProgram(std::string_view name);

}  // namespace muster
