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

// For a first word that is an option, a recipe or a program: the same words in their order, "the command comes first:
// muster run -q train.lua". `rest`: the words behind it; `commands`: the names of all commands. Empty if it is none of
// these.
std::string CommandInWrongPlace(const std::string& word, const std::vector<std::string>& rest,
                                const std::vector<std::string>& commands);

// How a program is run without a recipe of its own: "muster run @torch -- python3 train.py". Empty if the words do not
// begin with a program of Python or another launcher.
std::string RunOfProgram(const std::vector<std::string>& words);

// For an unknown option of a command that takes parameters: "a parameter is written without dashes: workers=3". `rest`:
// the following words, the first of which may be its value. Empty if it does not look like a parameter.
std::string AsParameter(std::string_view option, const std::vector<std::string>& rest);

// What muster has for an option of other launchers, such as --timeout or -np; empty if it is not known.
std::string InsteadOfOption(std::string_view option);

}  // namespace muster
