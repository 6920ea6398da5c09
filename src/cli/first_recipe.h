// The texts of a first recipe: one to begin with, or one that starts what another launcher's command line starts.
// Pure: text in, text out.
#pragma once

#include <string>
#include <vector>

#include "cli/launcher_words.h"

namespace muster {

// A recipe that runs as it stands, with comments that say what to change. `file`: its name, for the comments.
std::string FirstRecipe(const std::string& file);

// `words`: the command line as it was typed, for the comments.
std::string RecipeFromCall(const LauncherCall& call, const std::vector<std::string>& words, const std::string& file);

// What the recipe is called after: the script or module of the command without its ending, as a name of a recipe.
std::string NameOfProgram(const LauncherCall& call);

}  // namespace muster
