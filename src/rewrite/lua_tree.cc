#include "rewrite/lua_tree.h"

#include <utility>

#include "rewrite/lua_scopes.h"

namespace muster {
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
  Parser(std::string_view text, const std::string& file) : file_(file), lexer_(text) {
    tree_.functions.push_back({});
    token_ = lexer_.Next();
    next_ = lexer_.Next();
  }

  Result<LuaTree> Run() {
    tree_.first_statement = token_.begin;
    Block(false);
    if (token_.kind != LuaTokenKind::kEnd) Fault("unexpected " + Shown());
    if (!fault_.empty()) return Fail(Error("syntax", {file_, fault_line_}, fault_));
    tree_.comments = lexer_.comments();
    LinkParents();
    return std::move(tree_);
  }

 private:
  // Ends with the first fault: afterwards every token is the end.
  void Fault(const std::string& what) {
    if (!fault_.empty()) return;
    fault_ = token_.kind == LuaTokenKind::kBad ? std::string(token_.text) : what;
    fault_line_ = token_.line;
    token_ = next_ = LuaToken{LuaTokenKind::kEnd, token_.begin, token_.begin, token_.line, {}};
  }

  std::string Shown() const {
    return token_.kind == LuaTokenKind::kEnd ? "end of the file" : "\"" + std::string(token_.text) + "\"";
  }

  void Advance() {
    if (!fault_.empty()) return;
    last_end_ = token_.end;
    token_ = next_;
    if (token_.kind == LuaTokenKind::kBad) return Fault("");
    next_ = lexer_.Next();
  }

  bool Is(std::string_view text) const {
    return (token_.kind == LuaTokenKind::kKeyword || token_.kind == LuaTokenKind::kSymbol) && token_.text == text;
  }
  bool Take(std::string_view text) {
    if (!Is(text)) return false;
    Advance();
    return true;
  }
  void Expect(std::string_view text) {
    if (!Take(text)) Fault("\"" + std::string(text) + "\" expected near " + Shown());
  }
  std::string_view Name() {
    const std::string_view name = token_.text;
    if (token_.kind != LuaTokenKind::kName) Fault("name expected near " + Shown());
    Advance();
    return name;
  }

  // Counts the nesting of one thing that recurses.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kDeepestLua) parser_.Fault("nested too deeply");
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
    node.end = last_end_;
    node.line = line;
    node.function = function_;
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }
  LuaNode& At(int node) { return tree_.nodes[static_cast<std::size_t>(node)]; }

  int Leaf(Kind kind) {
    const LuaToken token = token_;
    Advance();
    return Add(kind, token.begin, token.line);
  }

  int Variable() {
    const LuaToken token = token_;
    const std::string_view name = Name();
    tree_.names.insert(name);
    const int node = Add(Kind::kName, token.begin, token.line);
    At(node).name = name;
    At(node).local = scopes_.Resolve(name);
    if (At(node).local >= 0) tree_.locals[static_cast<std::size_t>(At(node).local)].uses.push_back(node);
    return node;
  }

  int Table() {
    const LuaToken open = token_;
    std::vector<LuaField> fields;
    Expect("{");
    while (!Is("}") && fault_.empty()) {
      LuaField field;
      field.begin = token_.begin;
      field.line = token_.line;
      if (token_.kind == LuaTokenKind::kName && next_.kind == LuaTokenKind::kSymbol && next_.text == "=") {
        field.kind = LuaField::Kind::kNamed;
        field.name = Name();
        Expect("=");
      } else if (Take("[")) {
        field.kind = LuaField::Kind::kComputed;
        field.key = Expression();
        Expect("]");
        Expect("=");
      }
      const std::size_t before = tree_.functions.size();
      field.value = Expression();
      if (At(field.value).kind == Kind::kFunction) tree_.functions[before].field = field.name;
      field.end = field.end_with_separator = last_end_;
      const bool more = Take(",") || Take(";");
      if (more) field.end_with_separator = last_end_;
      fields.push_back(field);
      if (!more) break;
    }
    Expect("}");
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
    Expect("(");
    while (!Is(")") && fault_.empty()) {
      if (Take("...")) break;
      const int parameter = Declare(Name());
      if (std::exchange(is_first, false)) tree_.locals[static_cast<std::size_t>(parameter)].parameter_of = function_;
      if (!Take(",")) break;
    }
    Expect(")");
    Block(false);
    Expect("end");
    scopes_.HideUpTo(outer_locals);
    blocks_ = outer_blocks;
    const int made = std::exchange(function_, outer);
    const int node = Add(Kind::kFunction, begin, line);
    tree_.functions[static_cast<std::size_t>(made)].node = node;
    return node;
  }

  std::vector<int> Arguments() {
    std::vector<int> arguments;
    if (token_.kind == LuaTokenKind::kString) {
      arguments.push_back(Leaf(Kind::kString));
    } else if (Is("{")) {
      arguments.push_back(Table());
    } else {
      Expect("(");
      if (!Is(")")) arguments = Expressions();
      Expect(")");
    }
    return arguments;
  }

  bool BeginsArguments() const { return token_.kind == LuaTokenKind::kString || Is("{") || Is("("); }

  int Suffixed() {
    const LuaToken first = token_;
    int node = kNoNode;
    if (Take("(")) {
      const int inner = Expression();
      Expect(")");
      node = Add(Kind::kParentheses, first.begin, first.line);
      At(node).children = {inner};
    } else {
      node = Variable();
    }
    while (fault_.empty()) {
      std::string_view name;
      std::vector<int> children;
      Kind kind = Kind::kIndex;
      if (Take(".")) {
        name = Name();
      } else if (Take("[")) {
        children = {Expression()};
        Expect("]");
      } else if (Take(":")) {
        kind = Kind::kMethod;
        name = Name();
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
    const LuaToken first = token_;
    if (first.kind == LuaTokenKind::kNumber) return Leaf(Kind::kNumber);
    if (first.kind == LuaTokenKind::kString) return Leaf(Kind::kString);
    if (Is("nil")) return Leaf(Kind::kNil);
    if (Is("true")) return Leaf(Kind::kTrue);
    if (Is("false")) return Leaf(Kind::kFalse);
    if (Is("...")) return Leaf(Kind::kVararg);
    if (Is("{")) return Table();
    if (Take("function")) return FunctionBody(first.begin, first.line, false);
    return Suffixed();
  }

  int Expression(int limit = 0) {
    const Level level(*this);
    const LuaToken first = token_;
    int node = kNoNode;
    if (Is("not") || Is("-") || Is("#")) {
      Advance();
      const int operand = Expression(kUnary);
      node = Add(Kind::kOperation, first.begin, first.line);
      At(node).children = {operand};
    } else {
      node = Simple();
    }
    while (fault_.empty()) {
      const Priority* found = nullptr;
      for (const Priority& each : kBinary) {
        if (Is(each.symbol)) found = &each;
      }
      if (found == nullptr || found->left <= limit) break;
      Advance();
      const int right = Expression(found->right);
      const int operation = Add(Kind::kOperation, first.begin, first.line);
      At(operation).children = {node, right};
      node = operation;
    }
    return node;
  }

  std::vector<int> Expressions() {
    std::vector<int> all = {Expression()};
    while (Take(",")) all.push_back(Expression());
    return all;
  }

  // --- statements ----------------------------------------------------------------------------------

  bool EndsBlock() const {
    return token_.kind == LuaTokenKind::kEnd || Is("end") || Is("else") || Is("elseif") || Is("until");
  }

  // `keeps`: its locals stay visible, for the condition of a repeat.
  void Block(bool keeps) {
    const Level level(*this);
    const int before = scopes_.innermost();
    while (!EndsBlock() && fault_.empty()) {
      if (Take("return")) {
        if (!EndsBlock() && !Is(";")) Expressions();
        Take(";");
        if (!EndsBlock()) Fault("the end of the block expected near " + Shown());
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
    if (token_.kind == LuaTokenKind::kKeyword && Is("function")) {
      const LuaToken function = token_;
      Advance();
      Declare(Name());
      FunctionBody(function.begin, function.line, false);
      return;
    }
    std::vector<std::string_view> names = {Name()};
    while (Take(",")) names.push_back(Name());
    std::vector<int> values;
    if (Take("=")) values = Expressions();
    for (const std::string_view name : names) Declare(name);
    if (names.size() != 1 || values.size() != 1) return;
    LuaLocal& local = tree_.locals.back();
    local.value = values.front();
    local.begin = begin;
    local.end = last_end_;
    local.of_file = blocks_ == 0;
  }

  void ForStatement() {
    std::vector<std::string_view> names = {Name()};
    while (Take(",")) names.push_back(Name());
    if (!Take("=")) Expect("in");
    Expressions();
    Expect("do");
    const int before = scopes_.innermost();
    for (const std::string_view name : names) Declare(name);
    Inner();
    scopes_.HideUpTo(before);
    Expect("end");
  }

  void IfStatement() {
    Expression();
    Expect("then");
    Inner();
    while (Take("elseif")) {
      Expression();
      Expect("then");
      Inner();
    }
    if (Take("else")) Inner();
    Expect("end");
  }

  void FunctionStatement(const LuaToken& function) {
    const int name = Variable();
    bool is_variable = true;
    bool has_self = false;
    while (Take(".")) {
      Name();
      is_variable = false;
    }
    if (Take(":")) {
      Name();
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
    if (!fault_.empty()) return;
    if (Is("=") || Is(",")) {
      std::vector<int> targets = {first};
      while (Take(",")) targets.push_back(Suffixed());
      Expect("=");
      Expressions();
      for (const int target : targets) {
        const Kind kind = At(target).kind;
        if (kind != Kind::kName && kind != Kind::kIndex) Fault("cannot assign near " + Shown());
        Assign(target);
      }
      return;
    }
    if (At(first).kind != Kind::kCall && At(first).kind != Kind::kMethod)
      return Fault("statement expected near " + Shown());
    tree_.calls.push_back({first, scopes_.innermost()});
  }

  void Statement() {
    const LuaToken first = token_;
    if (Take(";")) return;
    if (Take("::")) {
      Name();
      return Expect("::");
    }
    if (first.text == "goto" && first.kind == LuaTokenKind::kName && next_.kind == LuaTokenKind::kName) {
      Advance();
      Advance();
    } else if (Take("break")) {
      return;
    } else if (Take("local")) {
      LocalStatement(first.begin);
    } else if (Take("if")) {
      IfStatement();
    } else if (Take("for")) {
      ForStatement();
    } else if (Take("function")) {
      FunctionStatement(first);
    } else if (Take("do")) {
      Inner();
      Expect("end");
    } else if (Take("while")) {
      Expression();
      Expect("do");
      Inner();
      Expect("end");
    } else if (Take("repeat")) {
      const int before = scopes_.innermost();
      Inner(true);
      Expect("until");
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
  LuaLexer lexer_;
  LuaToken token_;
  LuaToken next_;
  std::size_t last_end_ = 0;
  LuaTree tree_;
  LuaScopes scopes_{tree_.locals};
  int function_ = 0;
  int blocks_ = 0;  // around the statement
  int depth_ = 0;
  std::string fault_;
  std::uint32_t fault_line_ = 0;
};

}  // namespace

Result<LuaTree> ParseLua(std::string_view text, const std::string& file) {
  if (text.size() > kMostLuaBytes) return Fail(Error("syntax", {file, 0}, "the file is too large to be rewritten"));
  return Parser(text, file).Run();
}

}  // namespace muster
