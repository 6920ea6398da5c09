// Splits Lua source (LuaJIT's syntax) into tokens and comments with their exact places. Trusts no byte of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "muster/value.h"

namespace muster {

enum class LuaTokenKind : std::uint8_t { kName, kKeyword, kNumber, kString, kSymbol, kEnd, kBad };

struct LuaToken {
  LuaTokenKind kind = LuaTokenKind::kEnd;
  std::size_t begin = 0;  // offsets of bytes; `end` is behind the last one
  std::size_t end = 0;
  std::uint32_t line = 1;  // from 1
  std::string_view text;   // of kBad: what is wrong
};

struct LuaComment {
  std::size_t begin = 0;
  std::size_t end = 0;  // before the end of the line, for one that begins with "--" alone
  bool to_line_end = false;
};

class LuaLexer {
 public:
  // `text` must outlive the lexer and its tokens.
  explicit LuaLexer(std::string_view text);

  // kEnd once there is no more; kBad for an unfinished string or comment and for a byte that begins no token, and from
  // then on.
  LuaToken Next();
  // The comments before the last token, in order.
  const std::vector<LuaComment>& comments() const { return comments_; }

 private:
  void SkipLineEnd();
  bool SkipBlanksAndComments();
  // Behind the "]==]" that closes the long bracket at `at`; false if none opens there, or it is not closed.
  bool SkipLongBracket();
  bool OpensLongBracket() const;
  bool SkipString();
  void SkipNumber();
  LuaToken Bad(std::string_view what);
  char At(std::size_t offset) const { return at_ + offset < text_.size() ? text_[at_ + offset] : '\0'; }
  bool IsDone() const { return at_ >= text_.size(); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::vector<LuaComment> comments_;
  std::optional<LuaToken> bad_;
};

// The value of a token kNumber or kString; nothing for one with escapes other than of quotes, backslashes and ends of
// lines, and for numbers that only Lua understands (0x1p4, 1LL).
std::optional<Value> LuaLiteral(std::string_view token);

}  // namespace muster
