// Tracks the lexical state of a shell within a text: a word, a quoted string, or a comment. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

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

}  // namespace muster
