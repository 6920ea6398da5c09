// Topics of muster's own tables, and the documents made of them: the fields of recipes, the contracts of frameworks,
// the options of engines, the fault hooks and the kernel mechanisms. No Lua.
#pragma once

#include <string>
#include <vector>

#include "muster/value.h"
#include "reference/page.h"

namespace muster {

// Documents the fields of recipes: a page for each section of lua/muster/recipe_fields.lua (recipe, cluster, role, job,
// …), and docs/recipe-reference.md with all of them. No Lua.

// A topic for each section that is not part of another one's page. Field names are aliases of their section: "cores",
// "role.cores", "job:workers", "muster.int".
Topics RecipeTopics(const Value& sections);

// docs/recipe-reference.md.
std::string RecipeReference(const Value& sections);

// Documents the frameworks' contracts: a page for each, and docs/frameworks.md with all of them. From the records of
// lua/muster/framework_records.lua; no Lua.

// A topic for each contract, and "frameworks", which lists them. `records` is a list of maps; missing fields are
// omitted from the page.
Topics FrameworkTopics(const Value& records);

// docs/frameworks.md.
std::string FrameworkReference(const Value& records);

// Topics of the engines: the options that a recipe, a site file or the command line gives for them.

// `pages`: those of lua/muster/engines/.
Topics EngineTopics(const std::vector<Value>& pages);

// lua/meta/engines.lua: the same options as classes for editors.
std::string EngineStub(const std::vector<Value>& pages);

// Documents muster's diagnostics facilities: the fault hooks, and the kernel mechanisms with their substitutes, from
// the tables of base/system/fault.h and base/system/mechanism.h.

// Topics "faults" and "mechanisms".
Topics OwnTopics();

}  // namespace muster
