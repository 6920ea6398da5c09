// The Lua files that are part of the program: everything below lua/muster/.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedLua();
// Files that are loaded for every recipe, under the same names, compiled by precompile.cc. Code that makes tables for
// every process is not compiled: bytecode loses the size of table constructors, so these would grow step by step.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();
// What the files below muster/schema/ return, under the same names, archived by archive_records.cc.
std::span<const EmbeddedFile> EmbeddedRecordLists();

}  // namespace muster
