// Writes a whole buffer, with as many write(2) calls as needed.
#pragma once

#include <string_view>

namespace muster {

// Blocks if the descriptor does. Returns an error number, or 0 when everything is written.
int WriteAll(int fd, std::string_view bytes);
// The same, and then sets the offset to the beginning of the file, for its reader.
int WriteForReader(int fd, std::string_view bytes);

}  // namespace muster
