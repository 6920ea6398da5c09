// What to write instead of a regular expression that RE2 refuses.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// For RE2's error, "invalid perl operator: (?!".
std::string PatternHint(std::string_view error);

}  // namespace muster
