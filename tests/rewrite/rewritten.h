// Rewrites texts of recipes with the schema that is built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewrite/recipe_rewriter.h"

namespace muster::testing {

// For MindSpore 2.7, of a recipe for 2.7 whose processes have these contexts.
RewriteTarget TargetOf27(std::vector<Value::Map> contexts = {});

// A recipe for 2.7 with that body of its plan function.
std::string RecipeOf(const std::string& body);

// RecipeOf(body) rewritten. Fails the test if that is no Lua, or if rewriting the result changes it.
Rewriting RewrittenBody(const std::string& body, std::vector<Value::Map> contexts = {});

// The body of the plan function of such a text, without the line that the rewriting adds for the module.
std::string BodyOf(const Rewriting& rewriting);

// "3 ascend_config: why", one line for each.
std::string LeftOf(const Rewriting& rewriting);

}  // namespace muster::testing
