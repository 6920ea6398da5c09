// Valid names of runs and sweeps. They are used as folder names and on command lines, so they contain nothing that is
// special to a shell, a path or a terminal.
#pragma once

#include <string_view>

namespace muster {

// A letter or digit, then letters, digits, '_', '-' and '.', at most 100 characters, all ASCII.
bool IsRunName(std::string_view name);

}  // namespace muster
