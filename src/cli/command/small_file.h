// Reads small files as a whole.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace muster {

// The content of a regular file of at most so many bytes; an error is a sentence.
tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most = 16U << 20);

// Whether that name, relative to the current folder, leads out of the folder through a link.
bool LeadsOutOfHere(const std::string& name);

// ReadSmallFile for a name below the current folder that the user did not choose: refuses names that lead out of it.
tl::expected<std::string, std::string> ReadSmallFileHere(const std::string& name, std::uintmax_t most = 16U << 20);

}  // namespace muster
