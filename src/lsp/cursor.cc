#include "lsp/cursor.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/values/value_json.h"
#include "lsp/document.h"
#include "rewrite/lua_tree.h"

namespace muster {
namespace {

bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// All tokens of a text that need not be Lua: after a bad one the next line is read. A text that is not closed is a
// string up to the end of its line.
std::vector<LuaToken> TokensOf(std::string_view text) {
  constexpr int kMaxBad = 200;  // an unfinished long comment is looked for an end up to the end of the text
  std::vector<LuaToken> tokens;
  int bad = 0;
  for (std::size_t from = 0; from < text.size() && bad < kMaxBad; ++bad) {
    LuaLexer lexer(text.substr(from));
    std::size_t behind = from;  // the last token and the comments after it
    for (;;) {
      LuaToken token = lexer.Next();
      if (token.kind == LuaTokenKind::kEnd) return tokens;
      token.begin += from;
      token.end += from;
      if (token.kind != LuaTokenKind::kBad) {
        behind = token.end;
        tokens.push_back(token);
        continue;
      }
      if (!lexer.comments().empty()) behind = std::max(behind, from + lexer.comments().back().end);
      token.begin = std::min(text.find_first_not_of(" \t\r\n", behind), text.size());
      const std::size_t line_end = std::min(text.find('\n', token.begin), text.size());
      if (token.begin < text.size() && (text[token.begin] == '"' || text[token.begin] == '\'')) {
        token.kind = LuaTokenKind::kString;
        token.end = line_end;
        token.text = text.substr(token.begin, line_end - token.begin);
        tokens.push_back(token);
      }
      from = line_end + 1;
      break;
    }
  }
  return tokens;
}

bool IsSymbol(const LuaToken& token, std::string_view text) {
  return token.kind == LuaTokenKind::kSymbol && token.text == text;
}
bool IsOpening(const LuaToken& token) { return IsSymbol(token, "{") || IsSymbol(token, "(") || IsSymbol(token, "["); }
bool IsClosing(const LuaToken& token) { return IsSymbol(token, "}") || IsSymbol(token, ")") || IsSymbol(token, "]"); }

// The content between the quotes, as written; "[[…]]" too.
std::pair<std::size_t, std::size_t> InQuotes(const LuaToken& token) {
  const std::string_view text = token.text;
  if (text.starts_with('[')) {
    const std::size_t open = std::min(text.find('[', 1), text.size() - 1) + 1;
    return {token.begin + std::min(open, text.size()),
            token.end - std::min(open, text.size() - std::min(open, text.size()))};
  }
  const bool closed = text.size() > 1 && text.back() == text.front();
  return {token.begin + 1, std::max(token.begin + 1, token.end - (closed ? 1 : 0))};
}

std::string TextIn(std::string_view text, const LuaToken& token) {
  const auto [begin, end] = InQuotes(token);
  return std::string(text.substr(begin, end - begin));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), tokens_(TokensOf(text)) {}

  const std::vector<LuaToken>& tokens() const { return tokens_; }
  const Enclosures& around() const { return around_; }
  const std::map<std::string, BoundName>& names() const { return names_; }

  // Takes the token with that index; those before it must have been taken.
  void Take(std::size_t index) {
    const LuaToken& token = tokens_[index];
    if (IsOpening(token)) {
      Open(index);
    } else if (IsClosing(token)) {
      Close(token.text == "}"   ? Enclosure::Kind::kTable
            : token.text == ")" ? Enclosure::Kind::kParentheses
                                : Enclosure::Kind::kBrackets);
    } else if (token.kind == LuaTokenKind::kKeyword) {
      TakeKeyword(index);
    } else if ((IsSymbol(token, ",") || IsSymbol(token, ";")) && !around_.empty() &&
               around_.back().kind <= Enclosure::Kind::kParentheses) {
      ++around_.back().argument;
      keys_.back().clear();
    } else if (IsSymbol(token, "=") && index > 0 && !around_.empty() &&
               around_.back().kind == Enclosure::Kind::kTable) {
      const LuaToken& name = tokens_[index - 1];
      const bool in_brackets = IsSymbol(name, "]") && index >= 3 && tokens_[index - 2].kind == LuaTokenKind::kString;
      keys_.back() = name.kind == LuaTokenKind::kName ? std::string(name.text)
                     : in_brackets                    ? TextIn(text_, tokens_[index - 2])
                                                      : std::string();
    }
  }

  // The field of the innermost table whose value has begun; empty for an element of a list and before a field.
  std::string Key() const {
    return !around_.empty() && around_.back().kind == Enclosure::Kind::kTable ? keys_.back() : std::string();
  }

  // The expression that ends with the token `last`: a name, a call, or nothing.
  Chain ChainTo(std::size_t last) const {
    Chain reversed;
    std::size_t i = last + 1;
    while (i > 0 && reversed.size() < kMaxLinks) {
      const LuaToken& token = tokens_[i - 1];
      if (token.kind == LuaTokenKind::kName) {
        const bool member = i >= 2 && (IsSymbol(tokens_[i - 2], ".") || IsSymbol(tokens_[i - 2], ":"));
        const Link::Kind kind = !member                         ? Link::Kind::kName
                                : IsSymbol(tokens_[i - 2], ".") ? Link::Kind::kMember
                                                                : Link::Kind::kMethod;
        reversed.push_back({kind, std::string(token.text), token.begin, token.end});
        if (!member) break;
        i -= 2;
      } else if (token.kind == LuaTokenKind::kString) {
        if (i < 2 || !EndsCallee(tokens_[i - 2])) return {};
        reversed.push_back({Link::Kind::kCall, TextIn(text_, token), token.begin, token.end});
        --i;
      } else if (IsSymbol(token, ")") || IsSymbol(token, "}")) {
        std::size_t open = i - 1;
        for (std::size_t depth = 1; depth > 0 && open > 0 && i - open < kMaxTokens;) {
          --open;
          if (IsClosing(tokens_[open])) ++depth;
          if (IsOpening(tokens_[open])) --depth;
        }
        if (open == 0 || !IsOpening(tokens_[open]) || !EndsCallee(tokens_[open - 1])) return {};
        const bool text = open + 3 == i && tokens_[open + 1].kind == LuaTokenKind::kString;
        reversed.push_back(
            {Link::Kind::kCall, text ? TextIn(text_, tokens_[open + 1]) : "", tokens_[open].begin, token.end});
        i = open;
      } else {
        return {};
      }
    }
    if (reversed.empty() || reversed.back().kind != Link::Kind::kName) return {};
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
  }

 private:
  static constexpr std::size_t kMaxLinks = 12;
  static constexpr std::size_t kMaxEnclosures = 64;
  static constexpr std::size_t kMaxTokens = 1'000;  // of one table or call

  static bool EndsCallee(const LuaToken& token) {
    return token.kind == LuaTokenKind::kName || token.kind == LuaTokenKind::kString || IsSymbol(token, ")") ||
           IsSymbol(token, "}");
  }

  void Push(Enclosure enclosure) {
    if (around_.size() == kMaxEnclosures) return;
    around_.push_back(std::move(enclosure));
    keys_.emplace_back();
  }

  void Open(std::size_t index) {
    const LuaToken& token = tokens_[index];
    Enclosure enclosure;
    enclosure.kind = token.text == "{"   ? Enclosure::Kind::kTable
                     : token.text == "(" ? Enclosure::Kind::kParentheses
                                         : Enclosure::Kind::kBrackets;
    if (enclosure.kind != Enclosure::Kind::kBrackets && index > 0 && EndsCallee(tokens_[index - 1])) {
      enclosure.called = ChainTo(index - 1);
    }
    if (enclosure.called.empty()) enclosure.key = Key();
    Push(std::move(enclosure));
  }

  void Leave(Enclosures::iterator from) {
    around_.erase(from, around_.end());
    keys_.resize(around_.size());
  }

  // Closes the innermost one of that kind; in broken text brackets that are missing close with it.
  void Close(Enclosure::Kind kind) {
    const auto found =
        std::find_if(around_.rbegin(), around_.rend(), [&](const Enclosure& each) { return each.kind == kind; });
    if (found != around_.rend()) Leave(found.base() - 1);
  }

  void TakeKeyword(std::size_t index) {
    const LuaToken& token = tokens_[index];
    if (token.text == "function") {
      Enclosure function{Enclosure::Kind::kFunction, {}, 0, Key()};
      Push(function);
      BindParameters(index);
    } else if (token.text == "do" || token.text == "if" || token.text == "repeat") {
      Push({Enclosure::Kind::kBlock, {}, 0, {}});
    } else if (token.text == "end" || token.text == "until") {
      const auto found = std::find_if(around_.rbegin(), around_.rend(),
                                      [&](const Enclosure& each) { return each.kind >= Enclosure::Kind::kFunction; });
      if (found != around_.rend()) Leave(found.base() - 1);
    } else if (token.text == "local") {
      BindLocals(index);
    }
  }

  void BindParameters(std::size_t index) {
    std::size_t i = index + 1;
    while (i < tokens_.size() && !IsSymbol(tokens_[i], "(") && tokens_[i].line == tokens_[index].line) ++i;
    std::size_t number = 0;
    for (++i; i < tokens_.size() && tokens_[i].kind == LuaTokenKind::kName; i += 2, ++number) {
      BoundName binding;
      binding.function = around_;
      binding.number = number;
      binding.is_parameter = true;
      binding.begin = tokens_[i].begin;
      binding.end = tokens_[i].end;
      names_[std::string(tokens_[i].text)] = std::move(binding);
      if (i + 1 >= tokens_.size() || !IsSymbol(tokens_[i + 1], ",")) break;
    }
  }

  void BindLocals(std::size_t index) {
    std::vector<std::size_t> bound;
    std::size_t i = index + 1;
    for (; i < tokens_.size() && tokens_[i].kind == LuaTokenKind::kName; i += 2) {
      bound.push_back(i);
      if (i + 1 >= tokens_.size() || !IsSymbol(tokens_[i + 1], ",")) {
        ++i;
        break;
      }
    }
    const bool has_value = i < tokens_.size() && IsSymbol(tokens_[i], "=");
    for (const std::size_t name : bound) {
      BoundName binding;
      binding.begin = tokens_[name].begin;
      binding.end = tokens_[name].end;
      if (has_value && bound.size() == 1) binding.value = ChainFrom(i + 1);
      names_[std::string(tokens_[name].text)] = std::move(binding);
    }
  }

  // The expression that begins with the token `first`, as far as it is a chain.
  Chain ChainFrom(std::size_t first) const {
    if (first >= tokens_.size() || tokens_[first].kind != LuaTokenKind::kName) return {};
    std::size_t i = first;
    for (std::size_t links = 0; links < kMaxLinks && i + 1 < tokens_.size(); ++links) {
      const LuaToken& next = tokens_[i + 1];
      if ((IsSymbol(next, ".") || IsSymbol(next, ":")) && i + 2 < tokens_.size() &&
          tokens_[i + 2].kind == LuaTokenKind::kName) {
        i += 2;
      } else if (next.kind == LuaTokenKind::kString) {
        ++i;
      } else if (IsSymbol(next, "(") || IsSymbol(next, "{")) {
        std::size_t depth = 0;
        std::size_t close = i + 1;
        for (; close < tokens_.size() && close - i < kMaxTokens; ++close) {
          if (IsOpening(tokens_[close])) ++depth;
          if (IsClosing(tokens_[close]) && --depth == 0) break;
        }
        if (close >= tokens_.size() || !IsClosing(tokens_[close])) break;
        i = close;
      } else {
        break;
      }
    }
    return ChainTo(i);
  }

  std::string_view text_;
  std::vector<LuaToken> tokens_;
  Enclosures around_;
  std::vector<std::string> keys_;  // of tables in `around_`: the field whose value has begun
  std::map<std::string, BoundName> names_;
};

bool InComment(std::string_view text, std::size_t offset) {
  const std::size_t line = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
  LuaLexer lexer(text.substr(begin, offset - begin));
  for (;;) {
    const LuaToken token = lexer.Next();
    for (const LuaComment& comment : lexer.comments()) {
      if (comment.to_line_end && begin + comment.end >= offset) return true;
    }
    if (token.kind == LuaTokenKind::kEnd || token.kind == LuaTokenKind::kBad) return false;
  }
}

}  // namespace

Cursor CursorAt(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  Cursor cursor;
  cursor.begin = cursor.end = offset;
  Scanner scanner(text);
  const std::vector<LuaToken>& tokens = scanner.tokens();
  std::size_t at = 0;  // the first token that is not before the cursor
  while (at < tokens.size() && tokens[at].end <= offset &&
         !(tokens[at].end == offset &&
           (tokens[at].kind == LuaTokenKind::kName || tokens[at].kind == LuaTokenKind::kKeyword))) {
    const LuaToken& token = tokens[at];
    // A text that is not closed contains the cursor at its end.
    if (token.kind == LuaTokenKind::kString && token.end == offset && InQuotes(token).second == offset) break;
    scanner.Take(at++);
  }
  cursor.around = scanner.around();
  cursor.names = scanner.names();
  if (InComment(text, offset)) {
    cursor.around.clear();
    return cursor;
  }
  const bool on_token = at < tokens.size() && tokens[at].begin <= offset;
  const bool in_table = !cursor.around.empty() && cursor.around.back().kind == Enclosure::Kind::kTable;
  if (on_token && tokens[at].kind == LuaTokenKind::kString && tokens[at].begin < offset) {
    const auto [begin, end] = InQuotes(tokens[at]);
    cursor.in_text = true;
    cursor.begin = begin;
    cursor.end = std::max(begin, end);
    if (at > 0) cursor.chain = scanner.ChainTo(at - 1);
  } else if (on_token && (tokens[at].kind == LuaTokenKind::kName || tokens[at].kind == LuaTokenKind::kKeyword)) {
    cursor.begin = tokens[at].begin;
    cursor.end = tokens[at].end;
    if (tokens[at].kind == LuaTokenKind::kName) cursor.chain = scanner.ChainTo(at);
  }
  cursor.word = std::string(text.substr(cursor.begin, cursor.end - cursor.begin));
  cursor.typed = std::string(text.substr(cursor.begin, std::max(offset, cursor.begin) - cursor.begin));
  if (cursor.chain.empty() && !cursor.in_text && at > 0 &&
      (IsSymbol(tokens[at - 1], ".") || IsSymbol(tokens[at - 1], ":"))) {
    // Nothing is typed behind the dot yet, or a keyword stands on the next line.
    const LuaToken& dot = tokens[at - 1];
    cursor.begin = cursor.end = offset;
    cursor.word.clear();
    cursor.typed.clear();
    if (at > 1) cursor.chain = scanner.ChainTo(at - 2);
    if (!cursor.chain.empty()) {
      cursor.chain.push_back({dot.text == "." ? Link::Kind::kMember : Link::Kind::kMethod, "", offset, offset});
    }
  }
  if (in_table) {
    cursor.key = scanner.Key();
    const bool begins =
        at > 0 && (IsSymbol(tokens[at - 1], "{") || IsSymbol(tokens[at - 1], ",") || IsSymbol(tokens[at - 1], ";"));
    // In `{ a = 1 b`, where the comma is missing, too.
    cursor.at_key = cursor.key.empty() && begins && !cursor.in_text;
  }
  return cursor;
}

RecipeOutline OutlineOf(std::string_view text) {
  RecipeOutline outline;
  Scanner scanner(text);
  const std::vector<LuaToken>& tokens = scanner.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    scanner.Take(i);
    const LuaToken& token = tokens[i];
    if (token.kind == LuaTokenKind::kString && i > 0) {
      const LuaToken& before = tokens[i - 1];
      const LuaToken& callee = IsSymbol(before, "(") && i > 1 ? tokens[i - 2] : before;
      if (callee.text == "require" && TextIn(text, token).starts_with("muster")) outline.uses_muster = true;
    }
    if (token.kind != LuaTokenKind::kName || i + 1 >= tokens.size() || !IsSymbol(tokens[i + 1], "=")) continue;
    const Enclosures& around = scanner.around();
    if (around.empty() || around.back().kind != Enclosure::Kind::kTable) continue;
    if (token.text == "mindspore" && around.size() == 1 && i + 2 < tokens.size() &&
        tokens[i + 2].kind == LuaTokenKind::kString) {
      outline.release = TextIn(text, tokens[i + 2]);
    }
    const auto params =
        std::find_if(around.begin(), around.end(), [](const Enclosure& each) { return each.key == "params"; });
    if (params == around.end()) continue;
    // Tables inside `params` are blocks; those given to a constructor are its options, of which `one_of` has variants.
    std::string name;
    bool within_blocks = true;
    for (auto each = params + 1; each != around.end() && within_blocks; ++each) {
      within_blocks = each->kind == Enclosure::Kind::kTable && each->called.empty() && !each->key.empty();
      if (within_blocks) name += each->key + ".";
    }
    if (!within_blocks) continue;
    DeclaredName declared{name + std::string(token.text), "", token.begin, token.end};
    if (i + 4 < tokens.size() && tokens[i + 2].text == "muster" && IsSymbol(tokens[i + 3], ".")) {
      declared.type = std::string(tokens[i + 4].text);
    }
    const bool is_block = i + 2 < tokens.size() && IsSymbol(tokens[i + 2], "{");
    if (!is_block) outline.parameters.push_back(std::move(declared));
  }
  return outline;
}

TextRange RangeOfMessage(std::string_view text, std::uint32_t line, std::string_view message) {
  const auto begin = LineBegin(text, std::max(line, 1U));
  if (!begin) return {text.size(), text.size()};
  // The words of the message, first those in quotes.
  std::vector<std::string> words;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (message[i] != '"') continue;
    const std::size_t close = message.find('"', i + 1);
    if (close == std::string_view::npos) break;
    words.emplace_back(message.substr(i + 1, close - i - 1));
    i = close;
  }
  for (std::size_t i = 0; i < message.size();) {
    std::size_t end = i;
    while (end < message.size() && IsWordByte(message[end])) ++end;
    if (end > i + 1) words.emplace_back(message.substr(i, end - i));
    i = end + 1;
  }
  // The names and texts of the statement.
  constexpr std::size_t kMaxTokens = 2'000;
  struct Piece {
    std::string_view word;
    TextRange range;
  };
  std::vector<Piece> pieces;
  std::size_t depth = 0;
  std::size_t first_end = std::min(text.find('\n', *begin), text.size());
  LuaLexer lexer(text.substr(*begin));
  for (std::size_t n = 0; n < kMaxTokens; ++n) {
    const LuaToken token = lexer.Next();
    if (token.kind == LuaTokenKind::kEnd || token.kind == LuaTokenKind::kBad) break;
    const std::size_t at = *begin + token.begin;
    if (at >= first_end && depth == 0) break;
    if (IsOpening(token)) ++depth;
    if (IsClosing(token) && depth > 0) --depth;
    if (token.kind == LuaTokenKind::kName) pieces.push_back({token.text, {at, *begin + token.end, true}});
    if (token.kind == LuaTokenKind::kString) {
      const auto [from, to] = InQuotes(token);
      if (to >= from) pieces.push_back({text.substr(*begin + from, to - from), {*begin + from, *begin + to, true}});
    }
  }
  for (const std::string& word : words) {
    for (const Piece& piece : pieces) {
      if (piece.word == word && !word.empty()) return piece.range;
    }
  }
  std::size_t from = *begin;
  while (from < first_end && (text[from] == ' ' || text[from] == '\t')) ++from;
  std::size_t to = first_end;
  while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t' || text[to - 1] == '\r')) --to;
  return {from, to, false};
}

}  // namespace muster
