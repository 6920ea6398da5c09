// Searches lines with a regular expression in linear time, with
// RE2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "muster/result.h"

namespace muster {

// Returns a function that tests whether a line (its bytes as written) matches the expression,
// https://github.com/google/re2/wiki/Syntax. Fails with kind "regex". Uses at most 2 MiB.
Result<std::function<bool(std::string_view line)>> LineSearch(const std::string& expression);

}  // namespace muster
