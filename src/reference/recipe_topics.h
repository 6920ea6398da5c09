// Documents the fields of recipes: a page for each section of lua/muster/recipe_fields.lua (recipe, cluster, role, job,
// …), and docs/recipe-reference.md with all of them. No Lua.
#pragma once

#include <string>

#include "muster/value.h"
#include "reference/topic.h"

namespace muster {

// A topic for each section that is not part of another one's page. Field names are aliases of their section: "cores",
// "role.cores", "job:workers", "muster.int".
Topics RecipeTopics(const Value& sections);

// docs/recipe-reference.md.
std::string RecipeReference(const Value& sections);

}  // namespace muster
