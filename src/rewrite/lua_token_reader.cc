#include "rewrite/lua_token_reader.h"

namespace muster {

LuaTokenReader::LuaTokenReader(std::string_view text) : lexer_(text), token_(lexer_.Next()), next_(lexer_.Next()) {}

void LuaTokenReader::Fault(const std::string& what) {
  if (!ok()) return;
  fault_ = token_.kind == LuaTokenKind::kBad ? std::string(token_.text) : what;
  fault_line_ = token_.line;
  token_ = next_ = LuaToken{LuaTokenKind::kEnd, token_.begin, token_.begin, token_.line, {}};
}

std::string LuaTokenReader::Shown() const {
  return token_.kind == LuaTokenKind::kEnd ? "end of the file" : "\"" + std::string(token_.text) + "\"";
}

void LuaTokenReader::Advance() {
  if (!ok()) return;
  last_end_ = token_.end;
  token_ = next_;
  if (token_.kind == LuaTokenKind::kBad) return Fault("");
  next_ = lexer_.Next();
}

bool LuaTokenReader::Is(std::string_view text) const {
  return (token_.kind == LuaTokenKind::kKeyword || token_.kind == LuaTokenKind::kSymbol) && token_.text == text;
}

bool LuaTokenReader::Take(std::string_view text) {
  if (!Is(text)) return false;
  Advance();
  return true;
}

void LuaTokenReader::Expect(std::string_view text) {
  if (!Take(text)) Fault("\"" + std::string(text) + "\" expected near " + Shown());
}

std::string_view LuaTokenReader::Name() {
  const std::string_view name = token_.text;
  if (token_.kind != LuaTokenKind::kName) Fault("name expected near " + Shown());
  Advance();
  return name;
}

}  // namespace muster
