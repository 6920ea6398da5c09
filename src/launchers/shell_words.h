// Splits shell scripts into commands, and expands their words. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct ShellCommand {
  std::vector<std::string> words;  // as in the script, with quotes and $
  bool background = false;         // it ends with &
  std::uint32_t line = 1;
};

// Split at newlines, ';', '&', '&&', '||' and '|'; keywords (do, then, else, {) are separate commands, redirections are
// dropped. `for ((…))` is a command of "for" and one word with the text between the parentheses.
std::vector<ShellCommand> ShellCommandsOf(std::string_view text);

// The value of $NAME; nothing if it is unknown.
using VariableValue = std::function<std::optional<std::string>(std::string_view name)>;

// The word as the shell would expand it, without splitting; `$(pwd)` is ".". Nothing if it depends on an unknown
// variable, or on the output of another command.
std::optional<std::string> ExpandedWord(std::string_view word, const VariableValue& value);

// Evaluates whole numbers with + - * / % and parentheses, variables with and without $.
std::optional<long> ArithmeticValue(std::string_view text, const VariableValue& value);

}  // namespace muster
