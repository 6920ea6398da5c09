// muster ls --recipes: the recipes that there are to run, with what each says of itself: muster's own, those beside the
// caller, and those of the site's libraries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

struct ListedRecipe {
  std::string recipe;  // as it is written on a command line: "@torch", "recipes/gpt.lua", "@acme/gpt"
  std::string file;    // empty for muster's own
  std::string name;
  std::string doc;
  std::size_t parameters = 0;
  Diagnostics problems;  // why it cannot be described; then the three before are empty
};

// In that order, each part by name. Lua files that make no recipe (modules, rules, site files) are left out; what
// should be one and is broken is listed with its problems. Files are looked for in the current folder, below ./recipes
// and below the libraries' folders. Fails if the site is wrong.
Result<std::vector<ListedRecipe>> ListRecipes();

// "@acme/gpt", …: names alone, of what looks like a recipe; none if the site is wrong.
std::vector<std::string> LibraryRecipes();

void PrintRecipes(const std::vector<ListedRecipe>& recipes);
void PrintRecipesJson(const std::vector<ListedRecipe>& recipes);

// The two, and the exit code.
int ShowRecipes(bool json);

}  // namespace muster
