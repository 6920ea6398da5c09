// The Lua files that are part of the program: everything below lua/muster/.
#pragma once

#include <span>

#include "base/values/embedded_file.h"

namespace muster {

std::span<const EmbeddedFile> EmbeddedLua();
// Those below muster/schema/ under the same names, as precompile.cc turns them out: data, of which there is much and
// which is made once. Not code: what bytecode says of a table's constructor has forgotten how large the table will be,
// so that tables that are made for every process would grow step by step.
std::span<const EmbeddedFile> EmbeddedLuaBytecode();

}  // namespace muster
