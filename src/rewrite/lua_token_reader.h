// Lua source token by token with one token of lookahead, as its parser reads it. Ends with the first fault: afterwards
// every token is the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rewrite/lua_lexer.h"

namespace muster {

class LuaTokenReader {
 public:
  // `text` must outlive the object.
  explicit LuaTokenReader(std::string_view text);

  const LuaToken& token() const { return token_; }
  const LuaToken& next() const { return next_; }
  std::size_t last_end() const { return last_end_; }  // of the token before
  const LuaLexer& lexer() const { return lexer_; }

  // Keeps the first fault only.
  void Fault(const std::string& what);
  bool ok() const { return fault_.empty(); }
  const std::string& fault() const { return fault_; }
  std::uint32_t fault_line() const { return fault_line_; }

  void Advance();
  // Whether the token is this keyword or symbol; Take() also advances if it is.
  bool Is(std::string_view text) const;
  bool Take(std::string_view text);
  void Expect(std::string_view text);
  std::string_view Name();
  std::string Shown() const;  // for messages

 private:
  LuaLexer lexer_;
  LuaToken token_;
  LuaToken next_;
  std::size_t last_end_ = 0;
  std::string fault_;
  std::uint32_t fault_line_ = 0;
};

}  // namespace muster
