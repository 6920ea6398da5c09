// muster check of several recipes: the same check of each, and a table of all at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/options/recipe_options.h"

namespace muster {

// Whether the call names a folder or more than one file; then takes the words of overrides that are files or folders
// (an existing folder, or *.lua without '=') out of `options`, and returns all of them with the recipe before them.
// Empty for one recipe.
std::vector<std::string> TakeManyRecipes(RecipeOptions& options);

// Checks each recipe file and all recipes below each folder with the same options, for that MindSpore release (or all;
// empty: none) as well. In a folder, files that return no recipe and recipes that need a value are skipped, and listed
// as such. Returns the worst exit code.
int CheckMany(const RecipeOptions& options, const std::vector<std::string>& names, const std::string& mindspore,
              bool json);

}  // namespace muster
