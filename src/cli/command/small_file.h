// Small files that commands read whole.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace muster {

// What stands in a regular file of at most so many bytes; an error is a sentence.
tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most = 16U << 20);

// Whether a link leads from that name, relative to the current folder, out of the folder.
bool LeadsOutOfHere(const std::string& name);

// ReadSmallFile of a name below the current folder that is not the user's choice: nothing that leads out of it.
tl::expected<std::string, std::string> ReadSmallFileHere(const std::string& name, std::uintmax_t most = 16U << 20);

}  // namespace muster
