// Files that the user names on the command line, read whole.
#pragma once

#include <string>

#include <tl/expected.hpp>

namespace muster {

// What stands in a regular file of at most 16 MiB; an error is a sentence.
tl::expected<std::string, std::string> ReadSmallFile(const std::string& name);

}  // namespace muster
