// Replaces the text of a recipe in its place.
#pragma once

#include <string>
#include <string_view>

#include "muster/result.h"

namespace muster {

// Replaces `before`, which was read from the file, by `after`, with the file's mode and owner: there is the one text or
// the other at every moment. A link is followed. Refused, and nothing changed, if the file has another text by now or
// cannot be written. Kind "file".
Result<void> ReplaceRecipe(const std::string& path, std::string_view before, std::string_view after);

}  // namespace muster
