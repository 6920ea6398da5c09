#include "base/values/pattern_hint.h"

#include <algorithm>
#include <array>

namespace muster {
namespace {

struct RefusedPattern {
  std::string_view begin;  // of RE2's error
  std::string_view hint;
};

// The first that fits.
constexpr std::array kRefused = {
    RefusedPattern{"invalid perl operator",
                   "RE2 has no lookahead, lookbehind or atomic groups: match more of the line, with "
                   "a group around what is wanted"},
    RefusedPattern{"invalid named capture group", "named groups are written (?P<NAME>…)"},
    RefusedPattern{"missing )", "each ( is closed by a ); the character itself is written \\("},
    RefusedPattern{"unexpected )", "each ) closes a (; the character itself is written \\)"},
    RefusedPattern{"missing ]", "each [ is closed by a ]; the character itself is written \\["},
    RefusedPattern{"no argument for repetition operator",
                   "* + ? repeat what stands before them: any text is .*; the characters are written \\* \\+ \\?"},
    RefusedPattern{"bad repetition operator",
                   "RE2 has no possessive repetitions (a++); the characters are written \\+ \\*"},
    RefusedPattern{
        "invalid escape sequence",
        "RE2 has \\d \\w \\s \\b and others, and no references to groups (\\1); a backslash is written \\\\"},
    RefusedPattern{"trailing \\", "a backslash is written \\\\"},
    RefusedPattern{"invalid repetition size", "at most 1000 repetitions: {1,1000}"},
    RefusedPattern{"pattern too large", "shorter repetitions, or a part of the line"},
};

}  // namespace

std::string PatternHint(std::string_view error) {
  const auto* known = std::find_if(kRefused.begin(), kRefused.end(),
                                   [&](const RefusedPattern& each) { return error.starts_with(each.begin); });
  return std::string(known == kRefused.end() ? "escape characters to match literally with a backslash" : known->hint);
}

}  // namespace muster
