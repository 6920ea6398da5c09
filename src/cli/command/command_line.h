// The words of a command line: all options of a command, its own and the common ones, which running, documentation
// and completion use; and what is wrong with words that a command does not take: a value or a "=" that is missing,
// and the commands, options and parameters of other programs. Opens nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "cli/command/command.h"
#include "muster/result.h"

namespace muster {

// All options of a command: its own, and the common ones. Used to run, document and complete commands, so that all of
// these agree.

struct CommandOptions {
  std::function<int()> run;           // the result of Command::setup; owns the variables of the command's own options
  CLI::Option* site = nullptr;        // --site, for commands that depend on site files
  std::shared_ptr<std::string> file;  // … its value
};

// All arguments must live as long as the app.
CommandOptions AddCommandOptions(CLI::App& app, const Command& command, const Invocation& invocation);

// The value of an option that is a duration above 0, or with `zero` at least 0: seconds. Kind "usage".
Result<double> DurationOption(std::string_view option, const std::string& text, bool zero = false);

// Finds words of a command line in the wrong place: a value that is missing before the next option, a value behind a
// flag, a parameter without its "=". Knows the command's options; opens nothing.

struct WordProblem {
  std::string message;
  std::string hint;
};

// Found before parsing, where the parser would take a word for something else.
std::optional<WordProblem> FindWordProblem(const CLI::App& app, const std::vector<std::string>& words);

// The parser's refusal in muster's words; nothing for those that its own text explains. `example` is the command's.
std::optional<WordProblem> ExplainRefusal(const CLI::App& app, const CLI::ParseError& error,
                                          const std::string& example);

// The parser's text, shorter where it lists words that it does not take.
std::string RefusalText(const CLI::ParseError& error);

// Translates words from other programs: commands ("list", "kill"), and parameters written as options ("--workers 3").
// Pure.

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
