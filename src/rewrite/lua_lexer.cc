#include "rewrite/lua_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace muster {
namespace {

constexpr std::array<std::string_view, 21> kKeywords = {
    "and",   "break", "do",  "else", "elseif", "end",    "false", "for",  "function", "if",   "in",
    "local", "nil",   "not", "or",   "repeat", "return", "then",  "true", "until",    "while"};

// The longest first.
constexpr std::array<std::string_view, 27> kSymbols = {"...", "..", "==", "~=", "<=", ">=", "::", "+", "-",
                                                       "*",   "/",  "%",  "^",  "#",  "<",  ">",  "=", "(",
                                                       ")",   "{",  "}",  "[",  "]",  ";",  ":",  ",", "."};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool BeginsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0;
}
bool ContinuesName(char c) { return BeginsName(c) || IsDigit(c); }

std::optional<Value> NumberValue(std::string_view token) {
  std::int64_t whole = 0;
  const bool hex = token.starts_with("0x") || token.starts_with("0X");
  const char* begin = token.data() + (hex ? 2 : 0);
  const char* end = token.data() + token.size();
  if (const auto read = std::from_chars(begin, end, whole, hex ? 16 : 10); read.ec == std::errc() && read.ptr == end) {
    return Value(whole);
  }
  double number = 0;
  const auto read = std::from_chars(token.data(), end, number);
  if (hex || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  constexpr double kExact = 9007199254740992.0;
  if (std::trunc(number) == number && std::abs(number) <= kExact) return Value(static_cast<std::int64_t>(number));
  return Value(number);
}

std::optional<Value> StringValue(std::string_view token) {
  if (token.front() == '[') {
    const std::size_t open = token.find('[', 1) + 1;
    std::string_view inner = token.substr(open, token.size() - 2 * open);
    if (inner.starts_with("\r\n")) {
      inner.remove_prefix(2);
    } else if (inner.starts_with('\n')) {
      inner.remove_prefix(1);
    }
    return Value(inner);
  }
  std::string text;
  for (std::size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] != '\\') {
      text += token[i];
      continue;
    }
    const char escaped = token[++i];
    if (escaped == 'n') {
      text += '\n';
    } else if (escaped == '\\' || escaped == '"' || escaped == '\'') {
      text += escaped;
    } else {
      return std::nullopt;
    }
  }
  return Value(std::move(text));
}

}  // namespace

LuaLexer::LuaLexer(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  if (At(0) == '#') {  // "#!/usr/bin/env muster"
    while (!IsDone() && At(0) != '\n' && At(0) != '\r') ++at_;
  }
}

LuaToken LuaLexer::Bad(std::string_view what) {
  bad_ = LuaToken{LuaTokenKind::kBad, at_, at_, line_, what};
  return *bad_;
}

// "\r\n" and "\n\r" are one end of a line, as in Lua.
void LuaLexer::SkipLineEnd() {
  const char first = At(0);
  ++at_;
  if ((At(0) == '\n' || At(0) == '\r') && !IsDone() && At(0) != first) ++at_;
  ++line_;
}

bool LuaLexer::OpensLongBracket() const {
  std::size_t i = 1;
  while (At(i) == '=') ++i;
  return At(0) == '[' && At(i) == '[';
}

bool LuaLexer::SkipLongBracket() {
  std::size_t level = 0;
  while (At(1 + level) == '=') ++level;
  const std::string close = "]" + std::string(level, '=') + "]";
  at_ += level + 2;
  while (!IsDone()) {
    if (At(0) == ']' && text_.substr(at_, close.size()) == close) {
      at_ += close.size();
      return true;
    }
    if (At(0) == '\n' || At(0) == '\r') {
      SkipLineEnd();
    } else {
      ++at_;
    }
  }
  return false;
}

bool LuaLexer::SkipBlanksAndComments() {
  while (!IsDone()) {
    const char c = At(0);
    if (c == '\n' || c == '\r') {
      SkipLineEnd();
    } else if (c == ' ' || c == '\t' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '-' && At(1) == '-') {
      const std::size_t begin = at_;
      at_ += 2;
      const bool is_long = OpensLongBracket();
      if (is_long && !SkipLongBracket()) return false;
      while (!is_long && !IsDone() && At(0) != '\n' && At(0) != '\r') ++at_;
      comments_.push_back({begin, at_, !is_long});
    } else {
      return true;
    }
  }
  return true;
}

bool LuaLexer::SkipString() {
  const char quote = At(0);
  ++at_;
  while (!IsDone()) {
    const char c = At(0);
    if (c == quote) {
      ++at_;
      return true;
    }
    if (c == '\n' || c == '\r') return false;
    if (c != '\\') {
      ++at_;
      continue;
    }
    ++at_;
    if (IsDone()) return false;
    if (At(0) == 'z') {
      ++at_;
      while (!IsDone() && (At(0) == ' ' || (At(0) >= '\t' && At(0) <= '\r'))) {
        if (At(0) == '\n' || At(0) == '\r') {
          SkipLineEnd();
        } else {
          ++at_;
        }
      }
    } else if (At(0) == '\n' || At(0) == '\r') {
      SkipLineEnd();
    } else {
      ++at_;
    }
  }
  return false;
}

// As LuaJIT reads one: letters, digits and points, and a sign after the letter of the exponent.
void LuaLexer::SkipNumber() {
  const bool hex = At(0) == '0' && (At(1) == 'x' || At(1) == 'X');
  const auto is_exponent = [hex](char c) { return hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E'; };
  char before = '\0';
  while (!IsDone()) {
    const char c = At(0);
    const bool sign = (c == '+' || c == '-') && is_exponent(before);
    if (!ContinuesName(c) && c != '.' && !sign) return;
    before = c;
    ++at_;
  }
}

LuaToken LuaLexer::Next() {
  if (bad_) return *bad_;
  if (!SkipBlanksAndComments()) return Bad("unfinished long comment");
  LuaToken token{LuaTokenKind::kEnd, at_, at_, line_, {}};
  if (IsDone()) return token;
  const char c = At(0);
  if (BeginsName(c)) {
    while (!IsDone() && ContinuesName(At(0))) ++at_;
    token.kind = LuaTokenKind::kName;
  } else if (IsDigit(c) || (c == '.' && IsDigit(At(1)))) {
    SkipNumber();
    token.kind = LuaTokenKind::kNumber;
  } else if (c == '"' || c == '\'') {
    if (!SkipString()) return Bad("unfinished string");
    token.kind = LuaTokenKind::kString;
  } else if (OpensLongBracket()) {
    if (!SkipLongBracket()) return Bad("unfinished long string");
    token.kind = LuaTokenKind::kString;
  } else {
    const auto* symbol = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view each) {
      return !each.empty() && text_.substr(at_, each.size()) == each;
    });
    if (symbol == kSymbols.end()) return Bad("unexpected symbol");
    at_ += symbol->size();
    token.kind = LuaTokenKind::kSymbol;
  }
  token.end = at_;
  token.text = text_.substr(token.begin, token.end - token.begin);
  if (token.kind == LuaTokenKind::kName && std::find(kKeywords.begin(), kKeywords.end(), token.text) != kKeywords.end())
    token.kind = LuaTokenKind::kKeyword;
  return token;
}

std::optional<Value> LuaLiteral(std::string_view token) {
  if (token.empty()) return std::nullopt;
  return IsDigit(token.front()) || token.front() == '.' ? NumberValue(token) : StringValue(token);
}

}  // namespace muster
