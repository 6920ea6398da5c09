// What muster's own record files say: the schema, the outline of its reference, the contracts of frameworks, the
// fields of recipes. They are part of the program, so they are evaluated in the process that asks; a recipe never is.
// Knows no recipe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/mindspore/schema.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// The schema of the context API (lua/muster/schema). Kind "schema": a record is not well-formed, which only who works
// on muster can see.
Result<Schema> OwnSchema();

// What the file returns ("muster/schema/outline.lua"), below $MUSTER_LUA_PATH while developing.
Result<Value> OwnData(const std::string& path);

// What the contracts (lua/muster/frameworks) say of themselves, in the order in which they are told: a list of maps, as
// muster/framework_records.lua makes them.
Result<Value> OwnFrameworks();

// What a recipe may write: the sections of muster/recipe_fields.lua, which its checks read, too.
Result<Value> OwnRecipeFields();

// The text of a recipe that is part of the program ("torch", lua/muster/recipes), and the names of all, in order. On a
// command line they are written @torch.
std::optional<std::string> OwnRecipe(const std::string& name);
std::vector<std::string> OwnRecipeNames();

// The page of an engine that is part of the program ("slurm", lua/muster/engines), unchecked, and the names of all, in
// order.
Result<Value> OwnEngine(const std::string& name);
std::vector<std::string> OwnEngineNames();
// Of each the variable that is set inside an allocation: maps with `name` and `inside`, the nearest engine first.
Result<Value> OwnEngineSigns();

}  // namespace muster
