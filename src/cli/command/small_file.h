// Files of the user: their paths, reading small ones as a whole, and replacing the text of a recipe in its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "muster/result.h"

namespace muster {

// The path as it is from any folder, without "." and ".."; an empty one stays empty.
std::string AbsolutePath(const std::string& path);

// The content of a regular file of at most so many bytes; an error is a sentence.
tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most = 16U << 20);

// Whether that name, relative to the current folder, leads out of the folder through a link.
bool LeadsOutOfHere(const std::string& name);

// ReadSmallFile for a name below the current folder that the user did not choose: refuses names that lead out of it.
tl::expected<std::string, std::string> ReadSmallFileHere(const std::string& name, std::uintmax_t most = 16U << 20);

// Replaces the text of a recipe in its place.

// Replaces `before`, which was read from the file, by `after`, with the file's mode and owner: there is the one text or
// the other at every moment. A link is followed. Refused, and nothing changed, if the file has another text by now or
// cannot be written. Kind "file".
Result<void> ReplaceRecipe(const std::string& path, std::string_view before, std::string_view after);

}  // namespace muster
