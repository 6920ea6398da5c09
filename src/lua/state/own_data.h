// Muster's own record files as values: the schema, the outline of its reference, topics of the reference, pages of
// engines. They are part of the program, so they are evaluated in the calling process; recipes never are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/mindspore/schema.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// The schema of the context API (lua/muster/schema). Kind "schema": a record is not well-formed, an error of muster
// itself.
Result<Schema> OwnSchema();

// The result of the file ("muster/schema/outline.lua"), read below $MUSTER_LUA_PATH during development.
Result<Value> OwnData(const std::string& path);

// The contracts of frameworks as records (lua/muster/framework_records.lua).
Result<Value> OwnFrameworks();

// The text of a recipe that is part of the program ("torch", lua/muster/recipes), and the names of all, in order. On a
// command line they have an @: @torch.
std::optional<std::string> OwnRecipe(const std::string& name);
std::vector<std::string> OwnRecipeNames();

// The page of an engine that is part of the program ("slurm", lua/muster/engines), unchecked, and the names of all, in
// order.
Result<Value> OwnEngine(const std::string& name);
std::vector<std::string> OwnEngineNames();
// Of each the variable that is set inside an allocation: maps with `name` and `inside`, the nearest engine first.
Result<Value> OwnEngineSigns();

}  // namespace muster
