// Rewrites texts of recipes with the built-in schema.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewrite/recipe_rewriter.h"

namespace muster::testing {

// A rewriting for MindSpore 2.7 of a recipe for 2.7 whose processes have these contexts.
RewriteTarget TargetOf27(std::vector<Value::Map> contexts = {});

// Returns a recipe for 2.7 whose plan function has that body.
std::string RecipeOf(const std::string& body);

// Rewrites RecipeOf(body). Fails the test if that is not Lua, or if rewriting the result changes it.
Rewriting RewrittenBody(const std::string& body, std::vector<Value::Map> contexts = {});

// Returns the body of the plan function in the result, without the line added for the module.
std::string BodyOf(const Rewriting& rewriting);

// Returns lines such as "3 ascend_config: why".
std::string LeftOf(const Rewriting& rewriting);

}  // namespace muster::testing
