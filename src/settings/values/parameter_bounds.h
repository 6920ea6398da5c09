// How large a parameter's value may be.
#pragma once

#include <cstddef>

namespace muster {

// Memory of a list or table that is given as JSON, on the command line, in a file or in a variable. Checked while it
// is parsed: two bytes of text become a value of 56.
inline constexpr std::size_t kMostParameterBytes = std::size_t{32} << 20;

}  // namespace muster
