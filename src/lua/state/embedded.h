// The Lua files that are part of the program: everything below lua/muster/.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedLua();
// Files that are loaded for every recipe, under the same names, compiled by precompile.cc. Code that makes tables for
// every process is not compiled: bytecode loses the size of table constructors, so these would grow step by step.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();
// What files of data return, under the same names, archived by archive_data.cc.
std::span<const EmbeddedFile> EmbeddedDataArchives();
// One archive, of the schema in the files below muster/schema/, made by archive_schema.cc.
std::span<const EmbeddedFile> EmbeddedSchemaArchive();
constexpr char kSchemaArchive[] = "muster/schema.archive";

}  // namespace muster
