// What runs and sweeps may be called. Their names are names of folders and words of command lines, so they hold nothing
// that a shell, a path or a terminal reads as something else.
#pragma once

#include <string_view>

namespace muster {

// A letter or digit, then letters, digits, '_', '-' and '.', at most 100; all of ASCII.
bool IsRunName(std::string_view name);

}  // namespace muster
