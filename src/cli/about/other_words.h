// Words that people bring from other programs, and what they are called here: commands ("list", "kill") and parameters
// that are written like options ("--workers 3"). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

// What to use instead of a command that muster does not have: "muster ps shows the running runs, muster ls all of
// them". Empty if the word is not known elsewhere either.
std::string InsteadOfCommand(std::string_view word);

// For an unknown option of a command that takes parameters: "a parameter is written without dashes: workers=3". `rest`:
// the words behind it, the first of which may be its value. Empty if it does not look like a parameter.
std::string AsParameter(std::string_view option, const std::vector<std::string>& rest);

}  // namespace muster
