#include "rewrite/lua_tree.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, 21> kKeywords = {
    "and",   "break", "do",  "else", "elseif", "end",    "false", "for",  "function", "if",   "in",
    "local", "nil",   "not", "or",   "repeat", "return", "then",  "true", "until",    "while"};

// The longest first.
constexpr std::array<std::string_view, 27> kSymbols = {"...", "..", "==", "~=", "<=", ">=", "::", "+", "-",
                                                       "*",   "/",  "%",  "^",  "#",  "<",  ">",  "=", "(",
                                                       ")",   "{",  "}",  "[",  "]",  ";",  ":",  ",", "."};

bool BeginsName(char c) { return IsLetter(c) || c == '_' || (static_cast<unsigned char>(c) & 0x80U) != 0; }
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

namespace {

// Lua source token by token with one token of lookahead, as its parser reads it. Ends with the first fault: afterwards
// every token is the end.
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

}  // namespace

// The local variables that are visible at a place of Lua source, by name, while it is parsed.
class LuaScopes {
 public:
  // Adds to `locals`, which must outlive it.
  explicit LuaScopes(std::vector<LuaLocal>& locals) : locals_(locals) {}

  int Declare(std::string_view name) {
    LuaLocal local;
    local.name = name;
    local.outer = innermost_;
    local.shadows = Resolve(name);
    locals_.push_back(std::move(local));
    innermost_ = static_cast<int>(locals_.size()) - 1;
    by_name_[name] = innermost_;
    return innermost_;
  }

  // The local that the name means; -1: a global variable.
  int Resolve(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? -1 : found->second;
  }

  // The one that was declared last; -1: none is visible.
  int innermost() const { return innermost_; }

  // Ends the scope of the locals that were declared since `before` was the innermost one.
  void HideUpTo(int before) {
    while (innermost_ != before) {
      const LuaLocal& local = locals_[static_cast<std::size_t>(innermost_)];
      by_name_[local.name] = local.shadows;
      innermost_ = local.outer;
    }
  }

 private:
  std::vector<LuaLocal>& locals_;
  std::unordered_map<std::string_view, int> by_name_;
  int innermost_ = -1;
};

namespace {

using Kind = LuaNode::Kind;

struct Priority {
  std::string_view symbol;
  int left;
  int right;
};
// Lua's own; a right one below the left one makes an operator right-associative.
constexpr Priority kBinary[] = {{"or", 1, 1}, {"and", 2, 2}, {"<", 3, 3},  {">", 3, 3},  {"<=", 3, 3},
                                {">=", 3, 3}, {"~=", 3, 3},  {"==", 3, 3}, {"..", 5, 4}, {"+", 6, 6},
                                {"-", 6, 6},  {"*", 7, 7},   {"/", 7, 7},  {"%", 7, 7},  {"^", 10, 9}};
constexpr int kUnary = 8;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file), in_(text) { tree_.functions.push_back({}); }

  Result<LuaTree> Run() {
    tree_.first_statement = in_.token().begin;
    Block(false);
    if (in_.token().kind != LuaTokenKind::kEnd) in_.Fault("unexpected " + in_.Shown());
    if (!in_.ok()) return Fail(Error("syntax", {file_, in_.fault_line()}, in_.fault()));
    tree_.comments = in_.lexer().comments();
    LinkParents();
    return std::move(tree_);
  }

 private:
  // Counts the nesting of one thing that recurses.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxLuaDepth) parser_.in_.Fault("nested too deeply");
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  // --- names ---------------------------------------------------------------------------------------

  int Declare(std::string_view name) {
    tree_.names.insert(name);
    return scopes_.Declare(name);
  }

  // --- expressions ---------------------------------------------------------------------------------

  int Add(Kind kind, std::size_t begin, std::uint32_t line) {
    LuaNode node;
    node.kind = kind;
    node.begin = begin;
    node.end = in_.last_end();
    node.line = line;
    node.function = function_;
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }
  LuaNode& At(int node) { return tree_.nodes[static_cast<std::size_t>(node)]; }

  int Leaf(Kind kind) {
    const LuaToken token = in_.token();
    in_.Advance();
    return Add(kind, token.begin, token.line);
  }

  int Variable() {
    const LuaToken token = in_.token();
    const std::string_view name = in_.Name();
    tree_.names.insert(name);
    const int node = Add(Kind::kName, token.begin, token.line);
    At(node).name = name;
    At(node).local = scopes_.Resolve(name);
    if (At(node).local >= 0) tree_.locals[static_cast<std::size_t>(At(node).local)].uses.push_back(node);
    return node;
  }

  int Table() {
    const LuaToken open = in_.token();
    std::vector<LuaField> fields;
    in_.Expect("{");
    while (!in_.Is("}") && in_.ok()) {
      LuaField field;
      field.begin = in_.token().begin;
      field.line = in_.token().line;
      if (in_.token().kind == LuaTokenKind::kName && in_.next().kind == LuaTokenKind::kSymbol &&
          in_.next().text == "=") {
        field.kind = LuaField::Kind::kNamed;
        field.name = in_.Name();
        in_.Expect("=");
      } else if (in_.Take("[")) {
        field.kind = LuaField::Kind::kComputed;
        field.key = Expression();
        in_.Expect("]");
        in_.Expect("=");
      }
      const std::size_t before = tree_.functions.size();
      field.value = Expression();
      if (At(field.value).kind == Kind::kFunction) tree_.functions[before].field = field.name;
      field.end = field.end_with_separator = in_.last_end();
      const bool more = in_.Take(",") || in_.Take(";");
      if (more) field.end_with_separator = in_.last_end();
      fields.push_back(field);
      if (!more) break;
    }
    in_.Expect("}");
    const int node = Add(Kind::kTable, open.begin, open.line);
    At(node).fields = std::move(fields);
    return node;
  }

  // From the "(" of its parameters on.
  int FunctionBody(std::size_t begin, std::uint32_t line, bool has_self) {
    const int outer = function_;
    const int outer_locals = scopes_.innermost();
    const int outer_blocks = std::exchange(blocks_, blocks_ + 1);
    tree_.functions.push_back({kNoNode, outer, {}});
    function_ = static_cast<int>(tree_.functions.size()) - 1;
    bool is_first = true;
    if (has_self) {
      Declare("self");
      is_first = false;
    }
    in_.Expect("(");
    while (!in_.Is(")") && in_.ok()) {
      if (in_.Take("...")) break;
      const int parameter = Declare(in_.Name());
      if (std::exchange(is_first, false)) tree_.locals[static_cast<std::size_t>(parameter)].parameter_of = function_;
      if (!in_.Take(",")) break;
    }
    in_.Expect(")");
    Block(false);
    in_.Expect("end");
    scopes_.HideUpTo(outer_locals);
    blocks_ = outer_blocks;
    const int made = std::exchange(function_, outer);
    const int node = Add(Kind::kFunction, begin, line);
    tree_.functions[static_cast<std::size_t>(made)].node = node;
    return node;
  }

  std::vector<int> Arguments() {
    std::vector<int> arguments;
    if (in_.token().kind == LuaTokenKind::kString) {
      arguments.push_back(Leaf(Kind::kString));
    } else if (in_.Is("{")) {
      arguments.push_back(Table());
    } else {
      in_.Expect("(");
      if (!in_.Is(")")) arguments = Expressions();
      in_.Expect(")");
    }
    return arguments;
  }

  bool BeginsArguments() const { return in_.token().kind == LuaTokenKind::kString || in_.Is("{") || in_.Is("("); }

  int Suffixed() {
    const LuaToken first = in_.token();
    int node = kNoNode;
    if (in_.Take("(")) {
      const int inner = Expression();
      in_.Expect(")");
      node = Add(Kind::kParentheses, first.begin, first.line);
      At(node).children = {inner};
    } else {
      node = Variable();
    }
    while (in_.ok()) {
      std::string_view name;
      std::vector<int> children;
      Kind kind = Kind::kIndex;
      if (in_.Take(".")) {
        name = in_.Name();
      } else if (in_.Take("[")) {
        children = {Expression()};
        in_.Expect("]");
      } else if (in_.Take(":")) {
        kind = Kind::kMethod;
        name = in_.Name();
        children = Arguments();
      } else if (BeginsArguments()) {
        kind = Kind::kCall;
        children = Arguments();
      } else {
        break;
      }
      const int suffixed = Add(kind, first.begin, first.line);
      At(suffixed).base = node;
      At(suffixed).name = name;
      At(suffixed).children = std::move(children);
      node = suffixed;
    }
    return node;
  }

  int Simple() {
    const LuaToken first = in_.token();
    if (first.kind == LuaTokenKind::kNumber) return Leaf(Kind::kNumber);
    if (first.kind == LuaTokenKind::kString) return Leaf(Kind::kString);
    if (in_.Is("nil")) return Leaf(Kind::kNil);
    if (in_.Is("true")) return Leaf(Kind::kTrue);
    if (in_.Is("false")) return Leaf(Kind::kFalse);
    if (in_.Is("...")) return Leaf(Kind::kVararg);
    if (in_.Is("{")) return Table();
    if (in_.Take("function")) return FunctionBody(first.begin, first.line, false);
    return Suffixed();
  }

  int Expression(int limit = 0) {
    const Level level(*this);
    const LuaToken first = in_.token();
    int node = kNoNode;
    if (in_.Is("not") || in_.Is("-") || in_.Is("#")) {
      in_.Advance();
      const int operand = Expression(kUnary);
      node = Add(Kind::kOperation, first.begin, first.line);
      At(node).children = {operand};
    } else {
      node = Simple();
    }
    while (in_.ok()) {
      const Priority* found = nullptr;
      for (const Priority& each : kBinary) {
        if (in_.Is(each.symbol)) found = &each;
      }
      if (found == nullptr || found->left <= limit) break;
      in_.Advance();
      const int right = Expression(found->right);
      const int operation = Add(Kind::kOperation, first.begin, first.line);
      At(operation).children = {node, right};
      node = operation;
    }
    return node;
  }

  std::vector<int> Expressions() {
    std::vector<int> all = {Expression()};
    while (in_.Take(",")) all.push_back(Expression());
    return all;
  }

  // --- statements ----------------------------------------------------------------------------------

  bool EndsBlock() const {
    return in_.token().kind == LuaTokenKind::kEnd || in_.Is("end") || in_.Is("else") || in_.Is("elseif") ||
           in_.Is("until");
  }

  // `keeps`: its locals stay visible, for the condition of a repeat.
  void Block(bool keeps) {
    const Level level(*this);
    const int before = scopes_.innermost();
    while (!EndsBlock() && in_.ok()) {
      if (in_.Take("return")) {
        if (!EndsBlock() && !in_.Is(";")) Expressions();
        in_.Take(";");
        if (!EndsBlock()) in_.Fault("the end of the block expected near " + in_.Shown());
        break;
      }
      Statement();
    }
    if (!keeps) scopes_.HideUpTo(before);
  }

  void Inner(bool keeps = false) {
    ++blocks_;
    Block(keeps);
    --blocks_;
  }

  void LocalStatement(std::size_t begin) {
    if (in_.token().kind == LuaTokenKind::kKeyword && in_.Is("function")) {
      const LuaToken function = in_.token();
      in_.Advance();
      Declare(in_.Name());
      FunctionBody(function.begin, function.line, false);
      return;
    }
    std::vector<std::string_view> names = {in_.Name()};
    while (in_.Take(",")) names.push_back(in_.Name());
    std::vector<int> values;
    if (in_.Take("=")) values = Expressions();
    for (const std::string_view name : names) Declare(name);
    if (names.size() != 1 || values.size() != 1) return;
    LuaLocal& local = tree_.locals.back();
    local.value = values.front();
    local.begin = begin;
    local.end = in_.last_end();
    local.of_file = blocks_ == 0;
  }

  void ForStatement() {
    std::vector<std::string_view> names = {in_.Name()};
    while (in_.Take(",")) names.push_back(in_.Name());
    if (!in_.Take("=")) in_.Expect("in");
    Expressions();
    in_.Expect("do");
    const int before = scopes_.innermost();
    for (const std::string_view name : names) Declare(name);
    Inner();
    scopes_.HideUpTo(before);
    in_.Expect("end");
  }

  void IfStatement() {
    Expression();
    in_.Expect("then");
    Inner();
    while (in_.Take("elseif")) {
      Expression();
      in_.Expect("then");
      Inner();
    }
    if (in_.Take("else")) Inner();
    in_.Expect("end");
  }

  void FunctionStatement(const LuaToken& function) {
    const int name = Variable();
    bool is_variable = true;
    bool has_self = false;
    while (in_.Take(".")) {
      in_.Name();
      is_variable = false;
    }
    if (in_.Take(":")) {
      in_.Name();
      is_variable = false;
      has_self = true;
    }
    if (is_variable) Assign(name);
    FunctionBody(function.begin, function.line, has_self);
  }

  void Assign(int target) {
    if (At(target).kind == Kind::kName && At(target).local >= 0) {
      tree_.locals[static_cast<std::size_t>(At(target).local)].is_assigned = true;
    }
  }

  void ExpressionStatement() {
    const int first = Suffixed();
    if (!in_.ok()) return;
    if (in_.Is("=") || in_.Is(",")) {
      std::vector<int> targets = {first};
      while (in_.Take(",")) targets.push_back(Suffixed());
      in_.Expect("=");
      Expressions();
      for (const int target : targets) {
        const Kind kind = At(target).kind;
        if (kind != Kind::kName && kind != Kind::kIndex) in_.Fault("cannot assign near " + in_.Shown());
        Assign(target);
      }
      return;
    }
    if (At(first).kind != Kind::kCall && At(first).kind != Kind::kMethod)
      return in_.Fault("statement expected near " + in_.Shown());
    tree_.calls.push_back({first, scopes_.innermost()});
  }

  void Statement() {
    const LuaToken first = in_.token();
    if (in_.Take(";")) return;
    if (in_.Take("::")) {
      in_.Name();
      return in_.Expect("::");
    }
    if (first.text == "goto" && first.kind == LuaTokenKind::kName && in_.next().kind == LuaTokenKind::kName) {
      in_.Advance();
      in_.Advance();
    } else if (in_.Take("break")) {
      return;
    } else if (in_.Take("local")) {
      LocalStatement(first.begin);
    } else if (in_.Take("if")) {
      IfStatement();
    } else if (in_.Take("for")) {
      ForStatement();
    } else if (in_.Take("function")) {
      FunctionStatement(first);
    } else if (in_.Take("do")) {
      Inner();
      in_.Expect("end");
    } else if (in_.Take("while")) {
      Expression();
      in_.Expect("do");
      Inner();
      in_.Expect("end");
    } else if (in_.Take("repeat")) {
      const int before = scopes_.innermost();
      Inner(true);
      in_.Expect("until");
      Expression();
      scopes_.HideUpTo(before);
    } else {
      ExpressionStatement();
    }
  }

  void LinkParents() {
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const int parent = static_cast<int>(i);
      const auto link = [&](int child) {
        if (child != kNoNode) At(child).parent = parent;
      };
      link(tree_.nodes[i].base);
      for (const int child : tree_.nodes[i].children) link(child);
      for (const LuaField& field : tree_.nodes[i].fields) {
        link(field.key);
        link(field.value);
      }
    }
  }

  const std::string& file_;
  LuaTokenReader in_;
  LuaTree tree_;
  LuaScopes scopes_{tree_.locals};
  int function_ = 0;
  int blocks_ = 0;  // around the statement
  int depth_ = 0;
};

}  // namespace

Result<LuaTree> ParseLua(std::string_view text, const std::string& file) {
  if (text.size() > kMaxLuaBytes) return Fail(Error("syntax", {file, 0}, "the file is too large to be rewritten"));
  return Parser(text, file).Run();
}

}  // namespace muster
