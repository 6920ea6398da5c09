// Files that the user names on the command line, read whole.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace muster {

// What stands in a regular file of at most so many bytes; an error is a sentence.
tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most = 16U << 20);

}  // namespace muster
