#include "lua/host/lua_errors.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/values/diagnostics.h"
#include "lua/host/host.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "rewrite/lua_tree.h"

namespace muster {

// Words and signs of other languages, and what Lua has instead.

// A word of another language, and what Lua has instead.
struct OtherWord {
  std::string_view word;
  std::string_view hint;
};

// At the beginning of a statement.
inline constexpr std::array kOtherStatements = {
    OtherWord{"import", "modules are values: local NAME = require \"NAME\""},
    OtherWord{"from", "modules are values: local NAME = require \"NAME\""},
    OtherWord{"def", "functions are written: local function NAME(…) … end"},
    OtherWord{"fn", "functions are written: local function NAME(…) … end"},
    OtherWord{"func", "functions are written: local function NAME(…) … end"},
    OtherWord{"elif", "Lua writes elseif CONDITION then"},
    OtherWord{"elsif", "Lua writes elseif CONDITION then"},
    OtherWord{"continue", "Lua has no continue: put the rest of the loop into if not CONDITION then … end"},
    OtherWord{"pass", "leave it out: an empty block is allowed"},
    OtherWord{"var", "Lua declares names with local"},
    OtherWord{"let", "Lua declares names with local"},
    OtherWord{"const", "Lua declares names with local"},
    OtherWord{"try", "errors are caught by pcall(FUNCTION)"},
    OtherWord{"with", "Lua has no with: files beside the recipe are read by muster.read_json and muster.read_yaml"},
    OtherWord{"class", "Lua has no classes: a table holds values and functions"},
    OtherWord{"switch", "Lua has no switch: if … then … elseif … then … end"},
    OtherWord{"case", "Lua has no switch: if … then … elseif … then … end"},
    OtherWord{"int", "Lua declares names with local, without types"},
    OtherWord{"float", "Lua declares names with local, without types"},
    OtherWord{"double", "Lua declares names with local, without types"},
    OtherWord{"bool", "Lua declares names with local, without types"},
    OtherWord{"auto", "Lua declares names with local, without types"},
};

// Ends of blocks in other languages.
inline constexpr std::array<std::string_view, 7> kOtherEnds = {"endif", "endfor", "endwhile", "endfunction",
                                                               "done",  "fi",     "esac"};

struct OtherSymbols {
  std::string_view symbols;  // side by side
  std::string_view hint;
};

// Where the parser stops, anywhere in the line. The longest first.
inline constexpr std::array kOtherSymbols = {
    OtherSymbols{"!==", "\"not equal\" is written ~="},
    OtherSymbols{"!=", "\"not equal\" is written ~="},
    OtherSymbols{"===", "\"equal\" is written =="},
    OtherSymbols{"!", "a condition is negated by the word not"},
    OtherSymbols{"&&", "conditions are joined by the word and"},
    OtherSymbols{"||", "conditions are joined by the word or"},
    OtherSymbols{"?", "a choice of two values is written CONDITION and A or B"},
    OtherSymbols{"**", "powers are written a ^ b"},
    OtherSymbols{"/*", "comments begin with --, and long ones are written --[[ … ]]"},
    OtherSymbols{"=>", "functions are written: function(x) return … end"},
    OtherSymbols{"->", "functions are written: function(x) return … end; fields and methods: x.field, x:method()"},
    OtherSymbols{"<>", "\"not equal\" is written ~="},
    OtherSymbols{":=", "values are assigned with =, and new names declared with local"},
    OtherSymbols{"`", "texts stand between quotes: \"…\", and texts of several lines between [[ and ]]"},
    OtherSymbols{"，", "type the sign of the keyboard: ,"},
    OtherSymbols{"；", "type the sign of the keyboard: ;"},
    OtherSymbols{"：", "type the sign of the keyboard: :"},
    OtherSymbols{"（", "type the sign of the keyboard: ("},
    OtherSymbols{"）", "type the sign of the keyboard: )"},
    OtherSymbols{"＝", "type the sign of the keyboard: ="},
};

inline constexpr std::string_view kHowBlocksEnd = "each function, if, for, while and do has its own end";

inline constexpr std::array<std::string_view, 6> kOtherAssignments = {"+=", "-=", "*=", "/=", "%=", "..="};

namespace {

using TokenKind = LuaTokenKind;

// The source as tokens, and where the parser stopped.
class StoppedParser {
 public:
  StoppedParser(std::string_view message, std::string_view text, std::uint32_t line)
      : message_(message), text_(text), line_(line) {
    LuaLexer lexer(text);
    do {
      tokens_.push_back(lexer.Next());
    } while (tokens_.back().kind != TokenKind::kEnd && tokens_.back().kind != TokenKind::kBad);
    constexpr std::string_view kNear = " near '";
    const std::size_t near = message.rfind(kNear);
    if (near != std::string_view::npos && message.ends_with('\'')) {
      near_ = message.substr(near + kNear.size(), message.size() - near - kNear.size() - 1);
    }
    constexpr std::string_view kExpected = "' expected";
    const std::size_t expected = message.find(kExpected);
    if (message.starts_with('\'') && expected != std::string_view::npos) expected_ = message.substr(1, expected - 1);
    constexpr std::string_view kAtLine = " at line ";
    if (const std::size_t at = message.find(kAtLine); at != std::string_view::npos) {
      opened_at_ = message.substr(at + kAtLine.size());
      opened_at_ = opened_at_.substr(0, opened_at_.find(')'));
      constexpr std::string_view kClose = "(to close '";
      const std::size_t close = message.find(kClose) + kClose.size();
      opened_ = message.substr(close, message.find('\'', close) - close);
    }
  }

  void Translate(Diagnostic& diagnostic) const {
    const auto say = [&](std::string message, std::string_view hint = {}) {
      diagnostic.message = std::move(message);
      diagnostic.hint = hint;
    };
    if (message_.starts_with("unfinished string")) {
      return say("a text is not closed in its line",
                 "close it with a second quote; texts of several lines are written "
                 "[[ … ]]");
    }
    if (message_.starts_with("invalid escape sequence")) {
      return say("a text has a backslash that Lua does not know",
                 "a backslash is written \\\\, or the text between [[ "
                 "and ]]");
    }
    if (message_.starts_with("unfinished long ")) {
      const bool comment = message_.starts_with("unfinished long comment");
      return say(comment ? "a comment that begins with --[[ is not closed" : "a text that begins with [[ is not closed",
                 "close it with ]]");
    }
    if (message_.starts_with("malformed number")) return MalformedNumber(diagnostic);
    if (BeginsTheFile("{") || BeginsTheFile("[")) {
      return say("the file begins with " + Quoted(tokens_.front().text) + ": it is no recipe",
                 "a recipe ends with: return muster.recipe { … }; JSON is read by muster.read_json, YAML by "
                 "muster.read_yaml");
    }
    if (const auto symbols = SymbolsHere()) return say(Is(symbols->symbols), symbols->hint);
    if (IsPythonComment()) return say("\"#\" begins no comment in Lua", "comments begin with --");
    if (HasSideBySide("//")) {
      return IsFirst("//")
                 ? say("\"//\" begins no comment in Lua", "comments begin with --")
                 : say(Is("//"), "divisions without a rest are muster.exact_div(a, b), others math.floor(a / b)");
    }
    if (const auto assigning = Assigning()) return say(assigning->message, assigning->hint);
    if (near_ == "=" && (expected_ == "then" || expected_ == "do")) {
      return say("\"=\" compares nothing", "\"equal\" is written ==");
    }
    if (expected_ == "then" && near_ == "in") {
      return say(Is("VALUE in LIST"), "compare each: x == a or x == b; or ask a table: ({ a = true, b = true })[x]");
    }
    if (expected_ == "then" && near_ == "is") {
      return say(Is("is"), "\"equal\" is written ==, \"has no value\" == nil");
    }
    if (expected_ == "then" || expected_ == "do") {
      if (const LuaToken* brace = BraceOfBlock()) {
        diagnostic.place.line = brace->line;
        return say("a block begins with " + Quoted(expected_) + ", not with \"{\"",
                   expected_ == "then" ? "if CONDITION then … end" : "for … do … end, while CONDITION do … end");
      }
      const std::string_view form =
          expected_ == "then" ? "if CONDITION then … end" : "for … do … end, while CONDITION do … end";
      if (const LuaToken* colon = ColonOfBlock()) {
        diagnostic.place.line = colon->line;
        return say("a block begins with " + Quoted(expected_) + ", not with \":\"", form);
      }
      return say(Quoted(expected_) + " is missing " + Before(), form);
    }
    if (near_ == ":" && message_.starts_with("unexpected symbol")) {
      if (IsLastInLine(":")) return say("a block begins without \":\"", "function f(x) … end, else … end");
    }
    if (HasPythonText()) {
      return say("\"\"\" is not Lua", "texts of several lines are written [[ … ]], and comments begin with --");
    }
    if (const LuaToken* lambda = LambdaBefore()) {
      diagnostic.place.line = lambda->line;
      return say(Is("lambda"), "functions are written: function(x) return … end");
    }
    if (IsYamlField()) {
      return say("a field is written NAME = VALUE, not NAME: VALUE",
                 "a recipe is Lua: return muster.recipe { … }; YAML is read by muster.read_yaml");
    }
    if (IsPythonField()) return say("a field is written NAME = VALUE, not NAME: VALUE");
    if (near_ == "[" && message_.starts_with("unexpected symbol")) {
      return say("a list begins with \"{\", not with \"[\"", "lists are written { \"a\", \"b\" }");
    }
    if (const LuaToken* end = OtherEndBefore()) {
      diagnostic.place.line = end->line;
      return say(Is(end->text), kHowBlocksEnd);
    }
    if (const auto statement = Statement()) return say(Quoted(statement->word) + " is not Lua", statement->hint);
    if (near_ == "=" && expected_ == "}") {
      return say("the name of a field is written without quotes", "NAME = VALUE, or [\"NAME\"] = VALUE");
    }
    if (expected_ == "end") {
      return say(NotClosed("end"), HintOfEnd());
    }
    if (expected_ == ")" && near_ == "=") {
      return say("fields stand between \"{\" and \"}\"", "NAME { FIELD = VALUE, … }");
    }
    if (expected_ == ")" && near_ == ",") return say("a list stands between \"{\" and \"}\"", "{ \"a\", \"b\" }");
    if (near_ == "." || near_ == ":") {
      if (FollowsText())
        return say("a text before a method stands in parentheses", "(\"%d of %s\"):format(NUMBER, TEXT)");
    }
    if (near_ == ";" && message_.starts_with("unexpected symbol")) return say("there is one \";\" too many");
    const bool closes = expected_ == "}" || expected_ == ")" || expected_ == "]";
    if (closes && near_ == "<eof>") return say(NotClosed(expected_));
    if (closes && near_ == "end") return say("there is one \"end\" too many: no block is open here", kHowBlocksEnd);
    if (expected_ == ")" && CallIsOneLine()) return say(NotClosed(")"));
    if (closes) {
      if (const auto statement = FirstWord()) return say(Quoted(statement->word) + " is not Lua", statement->hint);
    }
    if (closes && FollowsValue()) return say("a comma is missing " + Before());
    if (message_.starts_with("unexpected symbol") && (near_ == "}" || near_ == ")")) {
      if (const auto* open = OpenBlock()) {
        return say("an \"end\" is missing " + Before() + ": the " + std::string(open->text) + " of line " +
                       std::to_string(open->line) + " is not closed",
                   HintOfEnd());
      }
    }
    if (expected_ == "<eof>" && (near_ == "end" || near_ == "}" || near_ == ")")) {
      return say("there is one " + Quoted(near_) + " too many: nothing is open here");
    }
    if (expected_ == "=" && !near_.empty()) {
      return say("a statement is an assignment or a call, and this is neither (" + std::string(message_) + ")");
    }
  }

 private:
  static std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }
  static std::string Is(std::string_view symbols) { return Quoted(symbols) + " is not Lua"; }

  std::string Before() const {
    if (near_ == "<eof>") return "at the end of the file";
    return "before " + (near_.starts_with('"') || near_.starts_with('\'') ? std::string(near_) : Quoted(near_));
  }

  std::string NotClosed(std::string_view with) const {
    const std::string missing = (with == "end" ? "an " : "a ") + Quoted(with) + " is missing " + Before();
    if (opened_.empty()) return missing;
    return missing + ": the " + (with == "end" ? std::string(opened_) : Quoted(opened_)) + " of line " +
           std::string(opened_at_) + " is not closed";
  }

  std::vector<std::size_t> InLine() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].line == line_ && tokens_[i].kind != TokenKind::kEnd) found.push_back(i);
    }
    return found;
  }

  bool IsFirstInLine(std::size_t at) const { return at == 0 || tokens_[at - 1].line < tokens_[at].line; }
  bool Stands(const LuaToken& token, std::string_view symbols) const {
    return token.kind != TokenKind::kString && token.kind != TokenKind::kEnd &&
           text_.substr(token.begin).starts_with(symbols);
  }

  bool HasSideBySide(std::string_view symbols) const {
    const auto line = InLine();
    return std::any_of(line.begin(), line.end(), [&](std::size_t at) { return Stands(tokens_[at], symbols); });
  }
  bool IsFirst(std::string_view symbols) const {
    const auto line = InLine();
    return !line.empty() && Stands(tokens_[line.front()], symbols);
  }

  std::optional<OtherSymbols> SymbolsHere() const {
    for (const OtherSymbols& each : kOtherSymbols) {
      if (HasSideBySide(each.symbols)) return each;
    }
    return std::nullopt;
  }

  // "#" is the length of what follows directly: with a blank, after a comma or alone in its line, it is a comment.
  bool IsPythonComment() const {
    for (const std::size_t at : InLine()) {
      if (tokens_[at].text != "#") continue;
      const bool apart =
          tokens_[at].end >= text_.size() || text_[tokens_[at].end] == ' ' || text_[tokens_[at].end] == '\n';
      if (IsFirstInLine(at) || apart) return true;
    }
    return false;
  }

  void MalformedNumber(Diagnostic& diagnostic) const {
    const auto say = [&](std::string message, std::string_view hint) {
      diagnostic.message = std::move(message);
      diagnostic.hint = hint;
    };
    const std::string number = Quoted(near_) + " is no number";
    if (near_.find("..") != std::string_view::npos) {
      return say(number, "the numbers of a loop are written: for i = 1, 3 do … end; .. between blanks joins texts");
    }
    if (near_.find('_') != std::string_view::npos) return say(number, "digits stand side by side: 1000000, or 1e6");
    say(number, "a number with a unit is a text: \"12h\", \"64GiB\"");
  }

  bool BeginsTheFile(std::string_view sign) const {
    return message_.starts_with("unexpected symbol") && tokens_.front().text == sign && near_ == sign &&
           tokens_.front().line == line_;
  }

  bool IsLastInLine(std::string_view sign) const {
    const auto line = InLine();
    return !line.empty() && tokens_[line.back()].text == sign;
  }

  // """a text""": an empty text, directly behind which another one begins.
  bool HasPythonText() const {
    const auto line = InLine();
    return std::any_of(line.begin(), line.end(), [&](std::size_t at) {
      return tokens_[at].kind == TokenKind::kString && text_.substr(tokens_[at].begin).starts_with("\"\"\"");
    });
  }

  // "if (a) { b() }", which the parser reads as a call.
  const LuaToken* BraceOfBlock() const {
    const LuaToken* brace = nullptr;
    for (std::size_t i = 1; i < tokens_.size() && tokens_[i].line <= line_; ++i) {
      const std::string_view word = tokens_[i].text;
      if (word == "if" || word == "elseif" || word == "while" || word == "for" || word == "then" || word == "do") {
        brace = nullptr;
      }
      if (word == "{" && tokens_[i - 1].text == ")" && brace == nullptr) brace = &tokens_[i];
    }
    return brace;
  }

  // In the line where the parser stopped, or the one before.
  const LuaToken* LambdaBefore() const {
    for (const LuaToken& token : tokens_) {
      if (token.text == "lambda" && token.line <= line_ && token.line + 1 >= line_) return &token;
    }
    return nullptr;
  }

  // "name: x" at the beginning of the file.
  bool IsYamlField() const {
    return tokens_.size() > 2 && tokens_[0].kind == TokenKind::kName && tokens_[1].text == ":" &&
           tokens_[0].line + 1 >= line_ &&
           (message_.starts_with("function arguments expected") || message_.starts_with("'<name>' expected") ||
            expected_ == "=");
  }

  // "x() endif", where the parser stops at the next word.
  const LuaToken* OtherEndBefore() const {
    for (const LuaToken& token : tokens_) {
      const bool near = token.line <= line_ && token.line + 1 >= line_;
      if (near && token.kind == TokenKind::kName &&
          std::find(kOtherEnds.begin(), kOtherEnds.end(), token.text) != kOtherEnds.end())
        return &token;
    }
    return nullptr;
  }

  bool FollowsText() const {
    for (const std::size_t at : InLine()) {
      if (at > 0 && tokens_[at].text == near_ && tokens_[at - 1].kind == TokenKind::kString) return true;
    }
    return false;
  }

  // The call that is to be closed has all of its words in its first line, and the parser stopped at the next one.
  bool CallIsOneLine() const {
    const auto line = InLine();
    if (line.empty() || line.front() == 0 || !Stands(tokens_[line.front()], near_)) return false;
    return opened_ == "(" && std::to_string(tokens_[line.front() - 1].line) == opened_at_;
  }

  std::string_view HintOfEnd() const {
    return HasElseIf() ? "\"else if\" opens a block of its own; the next condition of the same if is elseif"
                       : kHowBlocksEnd;
  }

  struct Translation {
    std::string message;
    std::string hint;
  };
  // x += 1, and x++.
  std::optional<Translation> Assigning() const {
    for (const std::size_t at : InLine()) {
      if (at == 0) continue;
      const std::string name(tokens_[at - 1].text);
      for (const std::string_view symbols : kOtherAssignments) {
        if (!Stands(tokens_[at], symbols)) continue;
        const std::string_view operation = symbols.substr(0, symbols.size() - 1);
        return Translation{Is(symbols), "write: " + name + " = " + name + " " + std::string(operation) + " …"};
      }
      if (Stands(tokens_[at], "++")) return Translation{Is("++"), "write: " + name + " = " + name + " + 1"};
    }
    return std::nullopt;
  }

  // "if a:", where the parser reads a call of a method that goes on in the next line.
  const LuaToken* ColonOfBlock() const {
    const LuaToken* colon = nullptr;
    for (std::size_t i = 0; i + 1 < tokens_.size() && tokens_[i].line <= line_; ++i) {
      const std::string_view word = tokens_[i].text;
      if (word == "if" || word == "elseif" || word == "while" || word == "for") colon = nullptr;
      if (word == ":" && tokens_[i + 1].line > tokens_[i].line) colon = &tokens_[i];
    }
    return colon;
  }

  // { name: "a" }
  bool IsPythonField() const {
    if (!message_.starts_with("'<name>' expected") && !message_.starts_with("function arguments expected"))
      return false;
    for (const std::size_t at : InLine()) {
      if (tokens_[at].text == ":" && at > 0 && at + 1 < tokens_.size() && tokens_[at - 1].kind == TokenKind::kName &&
          (at < 2 || tokens_[at - 2].text == "{" || tokens_[at - 2].text == ",")) {
        return true;
      }
    }
    return false;
  }

  std::optional<OtherWord> Statement() const {
    if (expected_ != "=" && !message_.starts_with("unexpected symbol")) return std::nullopt;
    for (const std::size_t at : InLine()) {
      if (tokens_[at].kind != TokenKind::kName) continue;
      const bool begins = IsFirstInLine(at) || tokens_[at - 1].text == "then" || tokens_[at - 1].text == "do" ||
                          tokens_[at - 1].text == ")" || tokens_[at - 1].text == "end";
      if (!begins) continue;
      const auto* known = std::find_if(kOtherStatements.begin(), kOtherStatements.end(),
                                       [&](const OtherWord& each) { return each.word == tokens_[at].text; });
      if (known != kOtherStatements.end()) return *known;
    }
    // A word alone in its line: the parser stops in the next one.
    return WordBefore();
  }
  // A word of another language that begins the line and is no field.
  std::optional<OtherWord> FirstWord() const {
    const auto line = InLine();
    if (line.size() < 2 || tokens_[line[1]].text == "=" || tokens_[line[1]].text == ",") return std::nullopt;
    const auto* known = std::find_if(kOtherStatements.begin(), kOtherStatements.end(),
                                     [&](const OtherWord& each) { return each.word == tokens_[line[0]].text; });
    return known == kOtherStatements.end() ? std::nullopt : std::optional(*known);
  }

  std::optional<OtherWord> WordBefore() const {
    const auto line = InLine();
    if (line.empty() || line.front() == 0) return std::nullopt;
    const LuaToken& before = tokens_[line.front() - 1];
    if (before.kind != TokenKind::kName || !IsFirstInLine(line.front() - 1)) return std::nullopt;
    const auto* known = std::find_if(kOtherStatements.begin(), kOtherStatements.end(),
                                     [&](const OtherWord& each) { return each.word == before.text; });
    return known == kOtherStatements.end() ? std::nullopt : std::optional(*known);
  }

  bool HasElseIf() const {
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].text == "else" && tokens_[i + 1].text == "if" && tokens_[i].line == tokens_[i + 1].line)
        return true;
    }
    return false;
  }

  static bool EndsValue(const LuaToken& token) {
    static constexpr std::array<std::string_view, 9> kEnds = {")", "}", "]", "end", "nil", "true", "false", "...", "'"};
    return token.kind == TokenKind::kName || token.kind == TokenKind::kNumber || token.kind == TokenKind::kString ||
           std::find(kEnds.begin(), kEnds.end(), token.text) != kEnds.end();
  }
  static bool BeginsValue(const LuaToken& token) {
    static constexpr std::array<std::string_view, 8> kBegins = {"{",    "[",     "function", "nil",
                                                                "true", "false", "not",      "..."};
    return token.kind == TokenKind::kName || token.kind == TokenKind::kNumber || token.kind == TokenKind::kString ||
           std::find(kBegins.begin(), kBegins.end(), token.text) != kBegins.end();
  }
  // Whether the parser stopped at a value directly behind another one.
  bool FollowsValue() const {
    for (const std::size_t at : InLine()) {
      if (at == 0 || !Stands(tokens_[at], near_)) {
        const bool same_text = at > 0 && tokens_[at].kind == TokenKind::kString && tokens_[at].text == near_;
        if (!same_text) continue;
      }
      if (EndsValue(tokens_[at - 1]) && BeginsValue(tokens_[at])) return true;
    }
    return false;
  }

  // The innermost block that is open inside the brackets where the parser stopped.
  const LuaToken* OpenBlock() const {
    std::vector<const LuaToken*> open;
    bool of_loop = false;  // the next "do" belongs to its "for" or "while"
    for (const LuaToken& token : tokens_) {
      const std::string_view word = token.text;
      const bool closes_bracket = word == "}" || word == ")";
      const bool opens_bracket = word == "{" || word == "(";
      const bool innermost_is_block = !open.empty() && open.back()->kind == TokenKind::kKeyword;
      if (closes_bracket && innermost_is_block) return token.line == line_ ? open.back() : nullptr;
      if (word == "for" || word == "while") of_loop = true;
      const bool opens_block =
          token.kind == TokenKind::kKeyword && (word == "function" || word == "if" || word == "for" ||
                                                word == "while" || word == "repeat" || (word == "do" && !of_loop));
      if (word == "do") of_loop = false;
      if (opens_bracket || opens_block) open.push_back(&token);
      const bool closes_block = word == "end" || word == "until";
      if ((closes_bracket || closes_block) && !open.empty()) open.pop_back();
    }
    return nullptr;
  }

  std::string_view message_;
  std::string_view text_;
  std::uint32_t line_;
  std::vector<LuaToken> tokens_;
  std::string_view near_;      // the token at which the parser stopped
  std::string_view expected_;  // what it expected there
  std::string_view opened_;    // "function", "{" …: what is to be closed, and its line
  std::string_view opened_at_;
};

}  // namespace

void TranslateSyntaxError(Diagnostic& diagnostic, std::string_view text) {
  constexpr std::size_t kMaxText = 256U << 10;  // nobody writes more; the tokens of a file take thirty times its size
  if (diagnostic.place.line == 0 || text.size() > kMaxText) return;
  const std::string message = diagnostic.message;
  StoppedParser(message, text, diagnostic.place.line).Translate(diagnostic);
}

// Hints for errors of Lua while a recipe runs: HintOfRuntimeError.

namespace {

struct RuntimeMistake {
  std::string_view begin;
  std::string_view part;  // somewhere behind it
  std::string_view hint;
};

// The first that fits.
constexpr std::array kRuntimeMistakes = {
    // As in job:role "x" { … }: ports and addresses are texts.
    RuntimeMistake{"attempt to call a string value", "",
                   "options of job:port and job:address are a second argument: job:port(\"NAME\", { … })"},
    RuntimeMistake{
        "attempt to perform arithmetic on ", "a string value",
        "texts are joined with .., and filled by (\"%d of %s\"):format(NUMBER, TEXT); tonumber(TEXT) makes a "
        "number of a text"},
    RuntimeMistake{"attempt to perform arithmetic on ", "a nil value", "nil is the value of what was never set"},
    RuntimeMistake{"attempt to concatenate ", "a nil value",
                   "nil is the value of what was never set; tostring(VALUE) makes a text of any value"},
    RuntimeMistake{"attempt to concatenate ", "a table value", "table.concat(LIST, \" \") joins the words of a list"},
    RuntimeMistake{"attempt to concatenate ", "", "tostring(VALUE) makes a text of any value"},
    RuntimeMistake{
        "attempt to compare ", "string",
        "tonumber(TEXT) makes a number of a text; muster.int and muster.float declare parameters of numbers"},
    RuntimeMistake{"attempt to compare ", "nil", "nil is the value of what was never set"},
    RuntimeMistake{"attempt to call ", "'append' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'push' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'insert' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'length' (a nil value)", "#LIST is the length of a list or a text"},
    RuntimeMistake{"attempt to call ", "'join' (a nil value)", "table.concat(LIST, \" \") joins the words of a list"},
    RuntimeMistake{"attempt to call ", "'split' (a nil value)", "for word in TEXT:gmatch(\"%S+\") do … end"},
    RuntimeMistake{"attempt to call ", "'strip' (a nil value)",
                   "TEXT:match(\"^%s*(.-)%s*$\") is the text without blanks around it"},
    RuntimeMistake{"attempt to call ", "'items' (a nil value)", "for key, value in pairs(TABLE) do … end"},
    RuntimeMistake{"attempt to call ", "'keys' (a nil value)", "for key, value in pairs(TABLE) do … end"},
    RuntimeMistake{"attempt to call method ", "(a table value)",
                   "a table is a value, not a function: write it with a dot and without ()"},
    RuntimeMistake{"attempt to call ", "(a string value)",
                   "a text is a value, not a function: write it with a dot and without ()"},
    RuntimeMistake{"attempt to call a table value", "", "a list is walked by: for _, x in ipairs(LIST) do … end"},
    RuntimeMistake{"attempt to call a number value", "", "a number of turns is written: for i = 1, COUNT do … end"},
};

}  // namespace

std::string HintOfRuntimeError(std::string_view message) {
  const auto* known = std::find_if(kRuntimeMistakes.begin(), kRuntimeMistakes.end(), [&](const RuntimeMistake& each) {
    return message.starts_with(each.begin) && message.find(each.part, each.begin.size()) != std::string_view::npos;
  });
  return known == kRuntimeMistakes.end() ? std::string() : std::string(known->hint);
}

namespace {

constexpr const char* kNestedTooDeeply =
    "the recipe's calls are nested too deeply, or it failed while it handled an error of its own";

// Adds the callers of the failing line, in the user's functions: one note per call, at most three.
void AddCallers(lua_State* lua, Diagnostic& diagnostic) {
  constexpr std::size_t kMaxCallers = 3;
  constexpr int kMaxLevels = 200;  // finding a level takes time proportional to it
  lua_Debug frame;
  Place last;  // the reported place, once its frame was found: error(message, 2) skips frames below it
  for (int level = 0;
       diagnostic.notes.size() < kMaxCallers && level < kMaxLevels && lua_getstack(lua, level, &frame) != 0; ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (frame.source[0] != '@' || frame.currentline < 1) continue;
    const Place place{frame.source + 1, static_cast<std::uint32_t>(frame.currentline)};
    if (last.file.empty() ? place != diagnostic.place : place == last) continue;
    if (!last.file.empty()) diagnostic.notes.push_back({"called here", place});
    last = place;
  }
}

// "attempt to index field 'model' (a nil value)": what the files that were read have instead.
std::string HintOfMissingField(const Host& host, const std::string& message) {
  constexpr std::string_view kBegin = "attempt to index field '";
  const std::size_t end = message.rfind("' (a nil value)");
  if (!message.starts_with(kBegin) || end == std::string::npos || end < kBegin.size()) return {};
  const std::string name = message.substr(kBegin.size(), end - kBegin.size());
  for (const auto& [file, keys] : host.keys_of_files) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) return file + " has " + name + " in another block";
    if (const auto nearest = Nearest(name, keys))
      return file + " has no " + name + "; did you mean \"" + *nearest + "\"?";
  }
  std::string files;
  for (const auto& [file, unused] : host.keys_of_files) files += (files.empty() ? "" : ", ") + file;
  return files.empty() ? files : "no file that was read (" + files + ") has a key " + name;
}

}  // namespace

int OnError(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (IsStop(lua, 1)) return 1;
  std::string message;
  if (!ToExactText(lua, 1, message)) {
    message = std::string("the recipe threw a ") + luaL_typename(lua, 1) + " as an error";
    if (luaL_getmetafield(lua, 1, "__tostring") != 0) {
      lua_pushvalue(lua, 1);
      std::string text;  // its message, if it can be converted
      if (lua_pcall(lua, 1, 1, 0) == 0 && ToExactText(lua, -1, text)) message = text;
    }
  }
  // Whether the interpreter can still call this handler when its stack overflows depends on the exact instruction; the
  // message must not.
  lua_Debug deep;
  if (message.ends_with("stack overflow") && lua_getstack(lua, 10'000, &deep) != 0) {
    message.replace(message.size() - std::string_view("stack overflow").size(), std::string::npos, kNestedTooDeeply);
  }
  const bool limit = host.state->out_of_instructions();
  Diagnostic diagnostic = LocatedError(limit ? "limit" : "lua", message, host.PlaceOf(host.Here(lua)), host.files);
  diagnostic.hint = HintOfRuntimeError(diagnostic.message);
  if (diagnostic.hint.empty()) diagnostic.hint = HintOfMissingField(host, diagnostic.message);
  AddCallers(lua, diagnostic);
  if (!host.current_process.empty()) diagnostic.notes.push_back({"in each of " + host.current_process, {}});
  host.Report(std::move(diagnostic));
  return 1;
}

void ReportLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed) {
  const Place noted = last_place != nullptr ? last_place->Read() : Place{};
  const Place last = noted.line > 0 ? noted : host.fallback;
  const bool limit_reported = std::any_of(host.diagnostics.begin(), host.diagnostics.end(),
                                          [](const Diagnostic& diagnostic) { return diagnostic.kind == "limit"; });
  if (host.state->out_of_memory() && !limit_reported) {
    host.Report(Error("limit", last,
                      "the recipe used more than " + std::to_string(limits.memory_bytes >> 20) + " MiB of memory"));
  } else if (host.state->out_of_instructions() && !limit_reported) {
    host.Report(Error("limit", last, host.state->InstructionsText()));
  } else if (failed && !HasErrors(host.diagnostics)) {
    host.Report(Error("lua", last, kNestedTooDeeply));
  }
}

}  // namespace muster
