// muster ls --recipes: the available recipes with their summaries: muster's own, those in and below the current folder,
// and those of the site's libraries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

struct ListedRecipe {
  std::string recipe;  // as on the command line: "@torch", "recipes/gpt.lua", "@acme/gpt"
  std::string file;    // empty for muster's own
  std::string name;
  std::string doc;
  std::size_t parameters = 0;
  Diagnostics problems;  // why it cannot be described; then the three fields before are empty
};

// In that order, each part sorted by name. Omits Lua files that are no recipes (modules, rules, site files); includes
// broken recipes with their problems. Searches the current folder, ./recipes and the libraries' folders. Fails if the
// site is invalid.
Result<std::vector<ListedRecipe>> ListRecipes();

// "@acme/gpt", …: only names, of files that look like recipes; none if the site is invalid.
std::vector<std::string> LibraryRecipes();

void PrintRecipes(const std::vector<ListedRecipe>& recipes);
void PrintRecipesJson(const std::vector<ListedRecipe>& recipes);

// Prints the list; returns the exit code.
int ShowRecipes(bool json);

}  // namespace muster
