#include "launchers/shell_syntax.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::size_t kMaxText = 1U << 20;
constexpr std::size_t kMaxCommands = 50'000;
constexpr int kMaxLevels = 100;

using Node = ShellNode;
using NodePtr = std::shared_ptr<const ShellNode>;

// What stops the parser; leaves ParsedShell as its error.
struct Unparsed {
  std::uint32_t line;
  std::string what;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePtr Script() {
    auto list = List({});
    if (at_ < text_.size()) Wrong(fmt::format("unexpected {}", Quoted(text_.substr(at_, 1))));
    return list;
  }

 private:
  [[noreturn]] void Wrong(const std::string& what) const { throw Unparsed{line_, what}; }

  bool Ahead(std::string_view token) const { return text_.substr(at_).starts_with(token); }

  void Advance(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void Blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r') {
        ++at_;
      } else if (Ahead("\\\n")) {
        Advance(at_ + 2);
      } else if (Ahead("\\\r\n")) {
        Advance(at_ + 3);
      } else if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }

  void Newline() {
    Advance(at_ + 1);
    for (ShellRedirection* here : std::exchange(here_documents_, {})) ReadHereDocument(*here);
  }

  void NewlinesAndBlanks() {
    for (Blanks(); at_ < text_.size() && text_[at_] == '\n'; Blanks()) Newline();
  }

  void ReadHereDocument(ShellRedirection& here) {
    const std::string end = std::exchange(here.target, {});
    const bool tabs = here.op == "<<-";
    here.op = "<<";
    while (at_ < text_.size()) {
      const std::size_t newline = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, newline - at_);
      while (tabs && line.starts_with('\t')) line.remove_prefix(1);
      Advance(newline + 1);
      if (line == end) return;
      here.target += std::string(line) + "\n";
    }
    Wrong("a here-document does not end");
  }

  // The word ahead, which stays; empty if there is none. Reserved words are never quoted.
  std::string_view Peek() {
    Blanks();
    const std::size_t end = WordEnd();
    return text_.substr(at_, end - at_);
  }

  std::size_t WordEnd() const {
    std::size_t at = at_;
    constexpr std::string_view kEnds = " \t\r\n;|&<>()";
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '\\') {
        if (at + 1 < text_.size() && text_[at + 1] == '\n') break;
        at += 2;
      } else if (c == '\'' || c == '"' || c == '`') {
        at = EndOfShellGroup(text_, at);
      } else if (c == '$' && at + 1 < text_.size() &&
                 (text_[at + 1] == '(' || text_[at + 1] == '{' || text_[at + 1] == '[')) {
        at = EndOfShellGroup(text_, at + 1);
      } else if (c == '$' && at + 1 < text_.size() && text_[at + 1] == '\'') {
        at = EndOfShellGroup(text_, at + 1);
      } else if ((c == '?' || c == '*' || c == '+' || c == '@' || c == '!') && at + 1 < text_.size() &&
                 text_[at + 1] == '(' && at > at_) {
        break;  // extended patterns are off in scripts
      } else if (kEnds.find(c) != std::string_view::npos) {
        break;
      } else {
        ++at;
      }
    }
    return std::min(at, text_.size());
  }

  std::string TakeWord() {
    Blanks();
    std::size_t end = WordEnd();
    // name=( … )
    if (end < text_.size() && text_[end] == '(' && end > at_ && text_[end - 1] == '=') {
      const std::string_view name = text_.substr(at_, end - at_ - 1);
      if (IsIdentifier(name.ends_with('+') ? name.substr(0, name.size() - 1) : name)) end = EndOfShellGroup(text_, end);
    }
    const std::string_view word = text_.substr(at_, end - at_);
    Advance(end);
    return std::string(word);
  }

  bool Take(std::string_view reserved) {
    if (Peek() != reserved) return false;
    Advance(at_ + reserved.size());
    return true;
  }

  void Expect(std::string_view reserved) {
    NewlinesAndBlanks();
    if (!Take(reserved)) Wrong(fmt::format("{} is missing", Quoted(reserved)));
  }

  std::shared_ptr<Node> New(Node::Kind kind) {
    if (++commands_ > kMaxCommands) Wrong("the script is too long");
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->line = line_;
    return node;
  }

  // Commands until one of the words, a ')' or the end of the text; the word stays.
  NodePtr List(const std::set<std::string_view>& ends) {
    if (++level_ > kMaxLevels) Wrong("the script is nested too deeply");
    const auto list = New(Node::Kind::kList);
    while (true) {
      NewlinesAndBlanks();
      if (at_ >= text_.size() || text_[at_] == ')' || ends.contains(Peek()) || (Ahead(";;") && ends.contains(";;")))
        break;
      const auto command = AndOr();
      Blanks();
      if (at_ < text_.size() && text_[at_] == '&') {
        command->background = true;
        ++at_;
      } else if (at_ < text_.size() && text_[at_] == ';' && !Ahead(";;")) {
        ++at_;
      } else if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != ')' && !Ahead(";;")) {
        Wrong(fmt::format("unexpected {}", Quoted(text_.substr(at_, 1))));
      }
      list->parts.push_back(command);
    }
    --level_;
    return list;
  }

  std::shared_ptr<Node> AndOr() {
    std::shared_ptr<Node> left = Pipeline();
    while (true) {
      Blanks();
      const bool both = Ahead("&&");
      if (!both && !Ahead("||")) return left;
      const auto node = New(both ? Node::Kind::kAnd : Node::Kind::kOr);
      node->line = left->line;
      at_ += 2;
      NewlinesAndBlanks();
      node->parts = {left, Pipeline()};
      left = node;
    }
  }

  std::shared_ptr<Node> Pipeline() {
    if (Take("!")) {
      const auto node = New(Node::Kind::kNot);
      node->parts = {Pipeline()};
      return node;
    }
    auto first = Command();
    Blanks();
    if (!Ahead("|") || Ahead("||")) return first;
    const auto node = New(Node::Kind::kPipeline);
    node->line = first->line;
    node->parts = {first};
    while (Ahead("|") && !Ahead("||")) {
      at_ += Ahead("|&") ? 2 : 1;
      NewlinesAndBlanks();
      node->parts.push_back(Command());
      Blanks();
    }
    return node;
  }

  std::shared_ptr<Node> Command() {
    if (++level_ > kMaxLevels) Wrong("the script is nested too deeply");
    std::shared_ptr<Node> node = Compound();
    if (node) {
      for (Blanks(); RedirectionAhead(); Blanks()) Redirection(*node);
    } else {
      node = Simple();
    }
    --level_;
    return node;
  }

  std::shared_ptr<Node> Compound() {
    const std::string_view word = Peek();
    if (Ahead("((")) return Arithmetic();
    if (Ahead("(")) return Group(Node::Kind::kSubshell, "(", ")");
    if (word == "{") return Group(Node::Kind::kList, "{", "}");
    if (word == "if") return If();
    if (word == "while" || word == "until") return While(word == "until");
    if (word == "for" || word == "select") return For();
    if (word == "case") return Case();
    if (word == "[[") return Test();
    if (word == "function") {
      Take("function");
      const std::string name = TakeWord();
      Blanks();
      if (Ahead("(")) Parentheses();
      return Function(name);
    }
    const std::size_t end = WordEnd();
    std::size_t open = end;
    while (open < text_.size() && (text_[open] == ' ' || text_[open] == '\t')) ++open;
    if (!word.empty() && open < text_.size() && text_[open] == '(' &&
        text_.substr(open + 1).find_first_not_of(" \t") != std::string_view::npos &&
        text_[text_.find_first_not_of(" \t", open + 1)] == ')') {
      const std::string name(word);
      Advance(end);
      Blanks();
      Parentheses();
      return Function(name);
    }
    for (const std::string_view misplaced : {"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"}) {
      if (word == misplaced && word != "in") Wrong(fmt::format("unexpected {}", Quoted(word)));
    }
    return nullptr;
  }

  void Parentheses() {
    ++at_;
    Blanks();
    if (!Ahead(")")) Wrong("')' is missing");
    ++at_;
  }

  std::shared_ptr<Node> Function(const std::string& name) {
    const auto node = New(Node::Kind::kFunction);
    node->words = {name};
    NewlinesAndBlanks();
    node->parts = {Command()};
    return node;
  }

  std::shared_ptr<Node> Arithmetic() {
    const auto node = New(Node::Kind::kArithmetic);
    const std::size_t end = EndOfShellGroup(text_, at_);
    if (end < at_ + 4 || text_[end - 2] != ')') return Group(Node::Kind::kSubshell, "(", ")");
    node->words = {std::string(text_.substr(at_ + 2, end - at_ - 4))};
    Advance(end);
    return node;
  }

  std::shared_ptr<Node> Group(Node::Kind kind, std::string_view open, std::string_view close) {
    const auto node = New(kind);
    Advance(at_ + open.size());
    node->parts = {List(close == "}" ? std::set<std::string_view>{"}"} : std::set<std::string_view>{})};
    Blanks();
    if (!Ahead(close)) Wrong(fmt::format("{} is missing", Quoted(close)));
    Advance(at_ + close.size());
    return node;
  }

  std::shared_ptr<Node> If() {
    const auto node = New(Node::Kind::kIf);
    Take("if");
    while (true) {
      node->parts.push_back(List({"then"}));
      Expect("then");
      node->parts.push_back(List({"elif", "else", "fi"}));
      NewlinesAndBlanks();
      if (!Take("elif")) break;
    }
    if (Take("else")) node->otherwise = {List({"fi"})};
    Expect("fi");
    return node;
  }

  std::shared_ptr<Node> While(bool until) {
    const auto node = New(until ? Node::Kind::kUntil : Node::Kind::kWhile);
    TakeWord();
    node->parts.push_back(List({"do"}));
    Expect("do");
    node->parts.push_back(List({"done"}));
    Expect("done");
    return node;
  }

  std::shared_ptr<Node> For() {
    auto node = New(Node::Kind::kFor);
    if (TakeWord() == "select") Wrong("`select` asks a person");
    Blanks();
    if (Ahead("((")) {
      node->kind = Node::Kind::kForCount;
      const std::size_t end = EndOfShellGroup(text_, at_);
      const std::string_view inside = text_.substr(at_ + 2, end < at_ + 4 ? 0 : end - at_ - 4);
      for (std::size_t begin = 0; begin <= inside.size();) {
        const std::size_t semicolon = std::min(inside.find(';', begin), inside.size());
        node->words.emplace_back(inside.substr(begin, semicolon - begin));
        begin = semicolon + 1;
      }
      if (node->words.size() != 3) Wrong("a loop has not three expressions");
      Advance(end);
    } else {
      node->words.push_back(TakeWord());
      if (!IsIdentifier(node->words.front())) Wrong("a loop has no variable");
      NewlinesAndBlanks();
      node->all_arguments = !Take("in");
      while (!node->all_arguments && !Peek().empty()) node->words.push_back(TakeWord());
    }
    Blanks();
    if (Ahead(";")) ++at_;
    NewlinesAndBlanks();
    const bool braces = Peek() == "{";
    Expect(braces ? "{" : "do");
    node->parts = {List({braces ? std::string_view("}") : std::string_view("done")})};
    Expect(braces ? "}" : "done");
    return node;
  }

  std::shared_ptr<Node> Case() {
    const auto node = New(Node::Kind::kCase);
    Take("case");
    node->words = {TakeWord()};
    Expect("in");
    while (true) {
      NewlinesAndBlanks();
      if (Take("esac")) return node;
      if (Ahead("(")) ++at_;
      std::vector<std::string> patterns;
      while (true) {
        patterns.push_back(TakeWord());
        Blanks();
        if (patterns.back().empty()) Wrong("`case` has an unexpected pattern");
        if (Ahead(")")) break;
        if (!Ahead("|")) Wrong("`case` has an unexpected pattern");
        ++at_;
      }
      ++at_;
      node->patterns.push_back(std::move(patterns));
      node->parts.push_back(List({"esac", ";;"}));
      Blanks();
      if (Ahead(";;&") || Ahead(";&")) Wrong("`case` falls through");
      if (Ahead(";;")) at_ += 2;
    }
  }

  std::shared_ptr<Node> Test() {
    const auto node = New(Node::Kind::kTest);
    Take("[[");
    while (true) {
      NewlinesAndBlanks();
      if (at_ >= text_.size()) Wrong("']]' is missing");
      if (Take("]]")) return node;
      bool taken = false;
      for (const std::string_view op : {"&&", "||", "(", ")", "<", ">"}) {
        if (taken || !Ahead(op)) continue;
        node->words.emplace_back(op);
        at_ += op.size();
        taken = true;
      }
      if (taken) continue;
      const bool pattern = !node->words.empty() && node->words.back() == "=~";
      std::string word = pattern ? Regex() : TakeWord();
      if (word.empty()) Wrong("`[[` has an unexpected word");
      node->words.push_back(std::move(word));
    }
  }

  std::string Regex() {
    Blanks();
    std::size_t at = at_;
    while (at < text_.size() && text_[at] != ' ' && text_[at] != '\n') {
      const char c = text_[at];
      at = c == '\'' || c == '"' || c == '(' || c == '[' ? EndOfShellGroup(text_, at) : at + (c == '\\' ? 2 : 1);
    }
    const std::string word(text_.substr(at_, std::min(at, text_.size()) - at_));
    Advance(at);
    return word;
  }

  bool RedirectionAhead() const {
    std::size_t at = at_;
    while (at < text_.size() && IsDigit(text_[at])) ++at;
    if (at >= text_.size()) return false;
    if (text_[at] == '<' || text_[at] == '>') return at + 1 >= text_.size() || text_[at + 1] != '(';
    return at == at_ && Ahead("&>");
  }

  void Redirection(Node& node) {
    ShellRedirection one;
    std::string digits;
    while (IsDigit(text_[at_])) digits += text_[at_++];
    if (!digits.empty()) one.descriptor = digits.size() > 4 ? 9999 : std::stoi(digits);
    for (const std::string_view op : {"&>>", "&>", "<<<", "<<-", "<<", ">>", ">&", "<&", "<>", ">|", "<", ">"}) {
      if (!Ahead(op)) continue;
      one.op = op;
      at_ += op.size();
      break;
    }
    one.target = TakeWord();
    if (one.target.empty()) Wrong("a redirection has no target");
    if (one.op == "<<" || one.op == "<<-") {
      std::string plain;
      for (const char c : one.target) {
        if (c == '\'' || c == '"' || c == '\\') {
          one.literal = true;
        } else {
          plain += c;
        }
      }
      one.target = plain;
    }
    // Here-documents that begin after this line are read into these elements, which must not move.
    constexpr std::size_t kMaxRedirections = 32;
    node.redirections.reserve(kMaxRedirections);
    if (node.redirections.size() == kMaxRedirections) Wrong("a command has too many redirections");
    node.redirections.push_back(std::move(one));
    if (node.redirections.back().op.starts_with("<<") && node.redirections.back().op != "<<<")
      here_documents_.push_back(&node.redirections.back());
  }

  std::shared_ptr<Node> Simple() {
    auto node = New(Node::Kind::kSimple);
    while (true) {
      Blanks();
      if (RedirectionAhead()) {
        Redirection(*node);
        continue;
      }
      if (Ahead("<(") || Ahead(">(")) {
        const std::size_t end = EndOfShellGroup(text_, at_ + 1);
        node->words.emplace_back(text_.substr(at_, end - at_));
        Advance(end);
        continue;
      }
      std::string word = TakeWord();
      if (word.empty()) break;
      node->words.push_back(std::move(word));
    }
    if (node->words.empty() && node->redirections.empty())
      Wrong(at_ < text_.size() ? fmt::format("unexpected {}", Quoted(text_.substr(at_, 1))) : "a command is missing");
    return node;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t commands_ = 0;
  int level_ = 0;
  std::vector<ShellRedirection*> here_documents_;  // that begin after this line
};

}  // namespace

std::size_t EndOfShellGroup(std::string_view text, std::size_t at) {
  const char open = text[at];
  if (open == '\'') {
    const std::size_t end = text.find('\'', at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  // A stack instead of recursion: the text is not ours.
  std::string closing(1, open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : open);
  for (++at; at < text.size(); ++at) {
    const char c = text[at], close = closing.back();
    if (c == '\\') {
      ++at;
    } else if (c == close) {
      closing.pop_back();
      if (closing.empty()) return at + 1;
    } else if (close == '"' || close == '`') {
      if (c == '`') closing += '`';
      if (c == '$' && at + 1 < text.size() && (text[at + 1] == '(' || text[at + 1] == '{')) {
        closing += text[at + 1] == '(' ? ')' : '}';
        ++at;
      }
    } else if (c == '\'') {
      at = EndOfShellGroup(text, at) - 1;
    } else if (c == '"' || c == '`') {
      closing += c;
    } else if ((c == '(' && close == ')') || (c == '[' && close == ']') || (c == '{' && close == '}')) {
      closing += close;
    } else if (c == '$' && at + 1 < text.size() && (text[at + 1] == '(' || text[at + 1] == '{')) {
      closing += text[at + 1] == '(' ? ')' : '}';
      ++at;
    } else if (c == '#' && close == ')' && (text[at - 1] == ' ' || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    }
  }
  return text.size();
}

Result<std::shared_ptr<const ShellNode>> ParsedShell(std::string_view text, const std::string& file) {
  if (text.size() > kMaxText) return Fail(Error("usage", Place{file, 0}, "the script is larger than 1 MiB", {}));
  try {
    return Parser(text).Script();
  } catch (const Unparsed& unparsed) {
    return Fail(Error("usage", Place{file, unparsed.line}, unparsed.what,
                      "give the part that starts the processes: muster init --from shell -- bash -c 'for …'"));
  }
}

namespace {

constexpr int kMaxSumLevels = 64;
constexpr std::size_t kMaxSum = 4096;

struct Operator {
  std::string_view sign;
  int level;
};

// By precedence; longer signs first within the search.
constexpr std::array kOperators = {Operator{"||", 1},  Operator{"&&", 2}, Operator{"==", 6}, Operator{"!=", 6},
                                   Operator{"<<", 8},  Operator{">>", 8}, Operator{"<=", 7}, Operator{">=", 7},
                                   Operator{"**", 11}, Operator{"|", 3},  Operator{"^", 4},  Operator{"&", 5},
                                   Operator{"<", 7},   Operator{">", 7},  Operator{"+", 9},  Operator{"-", 9},
                                   Operator{"*", 10},  Operator{"/", 10}, Operator{"%", 10}};

using Int = std::int64_t;
using Bits = std::uint64_t;  // wraps around as the shell's numbers do

std::optional<Int> Applied(std::string_view sign, Int a, Int b) {
  const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
  if (sign == "+") return static_cast<Int>(x + y);
  if (sign == "-") return static_cast<Int>(x - y);
  if (sign == "*") return static_cast<Int>(x * y);
  if (sign == "/" || sign == "%") {
    if (b == 0 || (a == std::numeric_limits<Int>::min() && b == -1)) return std::nullopt;
    return sign == "/" ? a / b : a % b;
  }
  if (sign == "**") {
    if (b < 0 || b > 64) return std::nullopt;
    Bits power = 1;
    for (Int i = 0; i < b; ++i) power *= x;
    return static_cast<Int>(power);
  }
  if (sign == "<<" || sign == ">>") {
    if (b < 0 || b > 63) return std::nullopt;
    return sign == "<<" ? static_cast<Int>(x << b) : a >> b;
  }
  if (sign == "|") return static_cast<Int>(x | y);
  if (sign == "^") return static_cast<Int>(x ^ y);
  if (sign == "&") return static_cast<Int>(x & y);
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "<=") return a <= b;
  return a >= b;
}

class Sum {
 public:
  Sum(std::string_view text, const ShellVariables& variables, int level)
      : text_(text), variables_(variables), level_(level) {}

  std::optional<Int> Read() {
    if (text_.size() > kMaxSum || level_ > kMaxSumLevels) return std::nullopt;
    if (Next() == '\0') return 0;
    auto value = Comma();
    if (Next() != '\0') wrong_ = true;
    return wrong_ ? std::nullopt : value;
  }

 private:
  char Next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Ahead(std::string_view sign) {
    Next();
    return text_.substr(at_).starts_with(sign);
  }

  std::optional<Int> Comma() {
    auto value = Assignment();
    while (!wrong_ && Next() == ',') {
      ++at_;
      value = Assignment();
    }
    return value;
  }

  std::string Name() {
    Next();
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    if (end == at_ || IsDigit(text_[at_])) return {};
    return std::string(text_.substr(at_, end - at_));
  }

  std::optional<Int> Assignment() {
    if (++level_ > kMaxSumLevels) return Wrong();
    const std::size_t begin = at_;
    const std::string name = Name();
    if (!name.empty()) {
      at_ += name.size();
      for (const std::string_view sign : {"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="}) {
        if (!Ahead(sign) || (sign == "=" && Ahead("=="))) continue;
        at_ += sign.size();
        auto value = Assignment();
        if (sign != "=") {
          const auto former = ValueOf(name);
          value = value && former ? Applied(sign.substr(0, sign.size() - 1), *former, *value) : std::nullopt;
        }
        Assign(name, value);
        --level_;
        return value;
      }
      at_ = begin;
    }
    auto value = Choice();
    --level_;
    return value;
  }

  std::optional<Int> Choice() {
    const auto condition = Binary(1);
    if (Next() != '?') return condition;
    ++at_;
    const bool outer = std::exchange(skip_, skip_ || (condition && *condition == 0));
    const auto first = Assignment();
    skip_ = outer;
    if (Next() != ':') return Wrong();
    ++at_;
    skip_ = skip_ || (condition && *condition != 0);
    const auto second = Assignment();
    skip_ = outer;
    if (!condition) return std::nullopt;
    return *condition != 0 ? first : second;
  }

  const Operator* OperatorAhead() {
    Next();
    for (const Operator& one : kOperators) {
      if (text_.substr(at_).starts_with(one.sign)) return &one;
    }
    return nullptr;
  }

  std::optional<Int> Binary(int least) {
    auto left = Unary();
    while (!wrong_) {
      const Operator* const op = OperatorAhead();
      if (op == nullptr || op->level < least) return left;
      at_ += op->sign.size();
      const bool decided = left && ((op->sign == "&&" && *left == 0) || (op->sign == "||" && *left != 0));
      const bool outer = std::exchange(skip_, skip_ || decided);
      const auto right = Binary(op->sign == "**" ? op->level : op->level + 1);
      skip_ = outer;
      if (op->sign == "&&" || op->sign == "||") {
        if (decided) {
          left = op->sign == "||";
        } else {
          left = left && right ? std::optional<Int>(*right != 0) : std::nullopt;
        }
      } else {
        left = left && right ? Applied(op->sign, *left, *right) : std::nullopt;
      }
    }
    return left;
  }

  std::optional<Int> Unary() {
    if (++level_ > kMaxSumLevels) return Wrong();
    const auto value = Operand();
    --level_;
    return value;
  }

  std::optional<Int> Operand() {
    const char c = Next();
    if (Ahead("++") || Ahead("--")) {
      const bool up = Ahead("++");
      at_ += 2;
      const std::string name = Name();
      at_ += name.size();
      return name.empty() ? Wrong() : Stepped(name, up);
    }
    if (c == '-' || c == '+' || c == '!' || c == '~') {
      ++at_;
      const auto value = Unary();
      if (!value) return std::nullopt;
      if (c == '-') return static_cast<Int>(Bits{0} - static_cast<Bits>(*value));
      if (c == '!') return *value == 0;
      return c == '~' ? ~*value : *value;
    }
    if (c == '(') {
      ++at_;
      const auto inner = Comma();
      if (Next() != ')') return Wrong();
      ++at_;
      return inner;
    }
    const std::string name = Name();
    if (!name.empty()) {
      at_ += name.size();
      if (Ahead("[")) return Wrong();
      if (Ahead("++") || Ahead("--")) {
        const bool up = Ahead("++");
        at_ += 2;
        const auto former = ValueOf(name);
        Stepped(name, up);
        return former;
      }
      return ValueOf(name);
    }
    return Constant();
  }

  std::optional<Int> Stepped(const std::string& name, bool up) {
    auto value = ValueOf(name);
    if (value) value = Applied("+", *value, up ? 1 : -1);
    Assign(name, value);
    return value;
  }

  std::optional<Int> Constant() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '#'))
      ++end;
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end;
    const std::size_t base = digits.find('#');
    std::optional<Int> number;
    if (base != std::string_view::npos) {
      const auto of = ParseNumber<int>(digits.substr(0, base));
      if (of && *of >= 2 && *of <= 36) number = ParseNumber<Int>(digits.substr(base + 1), *of);
    } else if (digits.starts_with("0x") || digits.starts_with("0X")) {
      number = ParseNumber<Int>(digits.substr(2), 16);
    } else {
      number = ParseNumber<Int>(digits, digits.starts_with('0') && digits.size() > 1 ? 8 : 10);
    }
    return number ? number : Wrong();
  }

  std::optional<Int> ValueOf(const std::string& name) {
    const auto text = variables_.value(name);
    if (!text) return std::nullopt;
    if (const auto number = ParseNumber<Int>(*text); number && !(text->size() > 1 && text->front() == '0'))
      return number;
    // A variable may hold an expression.
    return Sum(*text, variables_, level_ + 8).Read();
  }

  void Assign(const std::string& name, std::optional<Int> value) {
    if (!skip_) variables_.assign(name, value);
  }

  std::optional<Int> Wrong() {
    wrong_ = true;
    at_ = text_.size();
    return std::nullopt;
  }

  std::string_view text_;
  const ShellVariables& variables_;
  int level_;
  std::size_t at_ = 0;
  bool wrong_ = false;
  bool skip_ = false;  // in an operand that is not evaluated
};

}  // namespace

std::optional<std::int64_t> ShellArithmetic(std::string_view text, const ShellVariables& variables) {
  return Sum(text, variables, 0).Read();
}

std::optional<std::string> ExprValue(std::span<const std::string> words) {
  if (words.size() == 2 && words[0] == "length") return std::to_string(words[1].size());
  if (words.size() == 1) return words[0];
  // Words are whole operands and signs, so that they are joined with blanks; = compares, and | and & are not those of
  // $(( )).
  std::string text;
  for (const std::string& word : words) {
    const bool sign = word == "+" || word == "-" || word == "*" || word == "/" || word == "%" || word == "(" ||
                      word == ")" || word == "<" || word == ">" || word == "<=" || word == ">=" || word == "!=";
    if (word == "=" || word == "==") {
      text += "== ";
    } else if (sign) {
      text += word + " ";
    } else if (const auto number = ParseNumber<Int>(word)) {
      text += "(" + std::to_string(*number) + ") ";  // decimal, whatever it begins with
    } else {
      return std::nullopt;
    }
  }
  const ShellVariables none = {[](const std::string&) { return std::nullopt; }, [](const std::string&, auto) {}};
  const auto number = ShellArithmetic(text, none);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace muster
