// The schema as it is shipped: the records of lua/muster/schema read by a bare Lua state.
#pragma once

#include "muster/mindspore/context.h"
#include "muster/mindspore/schema.h"

namespace muster {

// Reads lua/muster/schema/FILE.lua; null if it does not evaluate (the test fails then).
Value SchemaFile(const std::string& file);

const Schema& RealSchema();

// MindSpore 1.6.2.
Release Release16();

inline Place At(std::uint32_t line) { return {"recipe.lua", line}; }

// The one diagnostic that is expected, or an empty one with the kind "none" or "many".
Diagnostic Only(const Diagnostics& diagnostics);

}  // namespace muster
