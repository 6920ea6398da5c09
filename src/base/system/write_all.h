// Writing all of something, however many writes the kernel makes of it.
#pragma once

#include <string_view>

namespace muster {

// Blocks where the descriptor does. The error number, or 0: everything is written.
int WriteAll(int fd, std::string_view bytes);

}  // namespace muster
