// Generates a recipe that starts what another launcher's command line starts. Pure: text in, text out.
#pragma once

#include <string>

#include "launchers/launcher_call.h"

namespace muster {

// `shown`: the command line as typed, for the comments at the top, which also list ignored options.
std::string RecipeOfCall(const LauncherCall& call, const std::string& shown, const std::string& file);

// The recipe's name: the script or module of the command without its suffix, as a valid name.
std::string NameOfProgram(const LauncherCall& call);

}  // namespace muster
