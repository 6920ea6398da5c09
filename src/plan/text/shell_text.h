// Commands of a plan as text for a POSIX shell: where a placeholder stands in a command's quotes, so that its value
// reaches the shell as data, and one process as a line to be pasted, with the environment that it would get. Pure:
// opens no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// Tracks the lexical state of a shell within a text: a word, a quoted string, or a comment. Pure.

// Follows a text for /bin/sh (POSIX.1, shell command language, 2.2 and 2.3) piece by piece.
class ShellPlace {
 public:
  // The next piece of the text, as its author wrote it.
  void Pass(std::string_view text);
  // The value, quoted so that the shell reads its bytes at this position. After a substitution, a here-document
  // or non-POSIX syntax the state is unknown: then a value that requires quoting is refused. The error is a
  // phrase.
  tl::expected<std::string, std::string> Put(std::string_view value);

 private:
  enum class Where : std::uint8_t { kWords, kSingle, kDouble, kComment };

  Where where_ = Where::kWords;
  bool unclear_ = false;
  bool escaped_ = false;     // the next byte is literal
  bool begins_word_ = true;  // a '#' would begin a comment
  char before_ = '\0';       // the previous byte
};

// Placeholders in the text of a shell command: the value reaches the shell as data, whatever quotes surround the
// placeholder.
//
// Pure. Tracks whether the shell would be reading a word, a quoted string or a comment; if that is uncertain, values
// with characters that are special to a shell are refused.

// Whether the word of a command is a shell text: the word after "/bin/sh" and "-c", as made by muster.shell.
bool IsShellText(const std::vector<Text>& words, std::size_t word);

// One word of a command with its placeholders filled. Fails like FillPlaceholders, and with kind "binding" if a value
// cannot be quoted in the shell text.
Result<std::string> FillWord(const std::vector<Text>& words, std::size_t word, const Binding& binding,
                             std::uint32_t attempt);

// One process of a plan as text for a POSIX shell, to be pasted to run it by hand with the environment that it would
// get. Pure: opens no file.

struct ShellBinding {
  const Binding* binding = nullptr;  // fills the placeholders; null: each becomes a shell variable that must be set
  // The path to use for the command's first word, if known.
  std::string program;
};

// Comments first: the process, and the variables that must be set before. Then one command in a subshell, which leaves
// the outer shell unchanged. The process inherits the environment of that shell, except variables that the plan
// removes. A secret is read from its source and exported by the subshell: it is neither in the text nor in an argument.
// The environment of the site is below that of the role; if the plan has an activation, which comes between the two,
// comments state it. The attempt is the first. Kind "binding" if the binding lacks a value for a placeholder, or a
// shell cannot export a variable that holds a secret.
Result<std::string> ShellLine(const Plan& plan, const Process& process, const ShellBinding& bound);

}  // namespace muster
