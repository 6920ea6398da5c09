// The Lua files that are part of the program: everything below lua/muster/.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedLua();
// The files below muster/schema/ under the same names, compiled by precompile.cc: large tables of data that are made
// once. Code is not compiled: bytecode loses the size of table constructors, so tables that are made for every process
// would grow step by step.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();

}  // namespace muster
