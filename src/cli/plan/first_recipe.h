// The text of a first recipe. Pure: text in, text out.
#pragma once

#include <string>

namespace muster {

// A recipe that runs unchanged, with comments on what to change. `file`: its name, for the comments.
std::string FirstRecipe(const std::string& file);

}  // namespace muster
