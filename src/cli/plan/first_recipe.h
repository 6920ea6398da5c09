// The text of a first recipe, to begin with. Pure: text in, text out.
#pragma once

#include <string>

namespace muster {

// A recipe that runs as it stands, with comments that say what to change. `file`: its name, for the comments.
std::string FirstRecipe(const std::string& file);

}  // namespace muster
