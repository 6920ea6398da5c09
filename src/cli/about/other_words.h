// Translates words from other programs: commands ("list", "kill"), and parameters written as options ("--workers 3").
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// A suggestion for an unknown command: "muster ps shows the running runs, muster ls all of them". Empty if no other
// program has that word.
std::string InsteadOfCommand(std::string_view word);

// For an unknown option of a command that takes parameters: "a parameter is written without dashes: workers=3". `rest`:
// the following words, the first of which may be its value. Empty if it does not look like a parameter.
std::string AsParameter(std::string_view option, const std::vector<std::string>& rest);

}  // namespace muster
