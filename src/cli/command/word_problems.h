// Finds words of a command line in the wrong place: a value that is missing before the next option, a value behind a
// flag, a parameter without its "=". Knows the command's options; opens nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace muster {

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

}  // namespace muster
