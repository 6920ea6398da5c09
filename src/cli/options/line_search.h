// Searching lines with a regular expression in linear time, whatever the expression (RE2). The only file of the program
// that knows RE2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "muster/result.h"

namespace muster {

// Whether a line (its bytes as they were written) holds a match of the expression,
// https://github.com/google/re2/wiki/Syntax. Fails with kind "regex". Takes at most 2 MiB.
Result<std::function<bool(std::string_view line)>> LineSearch(const std::string& expression);

}  // namespace muster
