// The Lua files that are part of the program: everything below lua/muster/.
#pragma once

#include <span>

#include "base/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedLua();
// The same files under the same names, as precompile.cc turns them out.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();

}  // namespace muster
