// What a recipe may write: a page for each section of lua/muster/recipe_fields.lua (recipe, cluster, role, job, …), and
// all of them as docs/recipe-reference.md. Knows the form of these records; no Lua.
#pragma once

#include <string>

#include "muster/value.h"
#include "reference/topic.h"

namespace muster {

// A topic for each section that is not part of another one's page. Fields are other names of their section: "cores",
// "role.cores", "job:workers", "muster.int".
Topics RecipeTopics(const Value& sections);

// docs/recipe-reference.md.
std::string RecipeReference(const Value& sections);

}  // namespace muster
