// Where in a text a shell would be reading: a word, a quoted string, a comment. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

// Follows a text that /bin/sh reads (POSIX.1, shell command language, 2.2 and 2.3) piece by piece.
class ShellPlace {
 public:
  // More of the text, as its author wrote it.
  void Pass(std::string_view text);
  // The value as it has to stand here, to be read as its bytes. After a substitution, a here-document and what only
  // some shells know, where a shell is in the text is not known: then a value that is not plain there is refused. The
  // error is a phrase.
  tl::expected<std::string, std::string> Put(std::string_view value);

 private:
  enum class Where : std::uint8_t { kWords, kSingle, kDouble, kComment };

  Where where_ = Where::kWords;
  bool unclear_ = false;
  bool escaped_ = false;     // the next byte stands for itself
  bool begins_word_ = true;  // a '#' would begin a comment
  char before_ = '\0';       // the byte before
};

}  // namespace muster
