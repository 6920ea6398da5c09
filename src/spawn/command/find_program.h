// Finds the program of a command's first word, and muster's own programs. Uses PATH and file modes; starts
// nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "spawn/command/spawn_spec.h"

namespace muster {

// The path to execute, absolute or relative to the child's folder, found as by execvp(3): with a slash it is used as it
// is; else the folders of the PATH in `spec.env` are searched (an empty entry is the child's folder, without PATH
// confstr's default is used), then `spec.search_dirs`. If only files are found that cannot be executed, the error is
// EACCES or, for a folder, EISDIR, rather than ENOENT.
tl::expected<std::string, SpawnError> FindProgram(const SpawnSpec& spec);

// The bytes of a word of a command or environment, with the NUL at its end, that Linux takes (MAX_ARG_STRLEN: 32
// pages).
std::size_t LongestWord();

// Why execve(2) of an existing `path` failed with `error`, as a phrase.
std::string ExecFailure(const SpawnSpec& spec, const std::string& path, int error);

// The path of that file name in the folder of the running program, with links resolved. Does not check that the file
// exists. Empty without /proc.
std::string BesideOwnProgram(std::string_view name);

}  // namespace muster
