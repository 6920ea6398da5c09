// The schema as it is shipped: the records of lua/muster/schema read by a bare Lua state.
#pragma once

#include "muster/mindspore/context.h"
#include "muster/mindspore/schema.h"

namespace muster {

// The functions of the context module.
inline constexpr const char* kSet = "set_context";
inline constexpr const char* kAuto = "set_auto_parallel_context";
inline constexpr const char* kPs = "set_ps_context";

// Reads lua/muster/schema/FILE.lua; null if it does not evaluate (the test fails then).
Value SchemaFile(const std::string& file);

const Schema& RealSchema();

// MindSpore 1.6.2.
Release Release16();

inline Place At(std::uint32_t line) { return {"recipe.lua", line}; }

// The one diagnostic that is expected, or an empty one with the kind "none" or "many".
Diagnostic Only(const Diagnostics& diagnostics);

// For messages of failures: a line for each diagnostic.
std::string Shown(const Diagnostics& diagnostics);

}  // namespace muster
