// Lua source (LuaJIT's syntax) as tokens, and as a tree: its expressions with their places, its locals, functions and
// call statements. Parses untrusted text: recursion is bounded, and text that Lua would refuse is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// Splits Lua source (LuaJIT's syntax) into tokens and comments with their exact places. Trusts no byte of it.

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

// Lua source as a tree: its expressions with their places, its locals, functions and call statements. Parses untrusted
// text: recursion is bounded, and text that Lua would refuse is an error.

constexpr int kNoNode = -1;

struct LuaField {
  enum class Kind : std::uint8_t { kPositional, kNamed, kComputed };  // 1; a = 1; [e] = 1
  Kind kind = Kind::kPositional;
  std::string_view name;  // of kNamed
  int key = kNoNode;      // of kComputed
  int value = kNoNode;
  std::size_t begin = 0;
  std::size_t end = 0;                 // behind the value …
  std::size_t end_with_separator = 0;  // … and behind the "," or ";" after it, if there is one
  std::uint32_t line = 0;
};

struct LuaNode {
  enum class Kind : std::uint8_t {
    kNil,
    kTrue,
    kFalse,
    kNumber,
    kString,
    kVararg,
    kFunction,
    kName,
    kIndex,
    kCall,
    kMethod,
    kTable,
    kParentheses,
    kOperation,
  };
  Kind kind = Kind::kNil;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t line = 0;  // of its first token
  int parent = kNoNode;
  int function = 0;           // the function that it is in; 0: the file
  int base = kNoNode;         // kIndex, kCall, kMethod: what is indexed or called
  int local = -1;             // kName: the local variable; -1: a global one
  std::string_view name;      // kName, kMethod, and kIndex by a name
  std::vector<int> children;  // arguments; operands; the key of an index in brackets; what is in parentheses
  std::vector<LuaField> fields;
};

struct LuaLocal {
  std::string_view name;
  int outer = -1;            // the local that was visible last where it is declared
  int shadows = -1;          // the local of the same name that it hides
  int value = kNoNode;       // of `local name = value` with one name and one value
  bool is_assigned = false;  // it gets another value somewhere
  int parameter_of = -1;     // of that function, as its first one
  std::size_t begin = 0;     // of the statement `local name = value`
  std::size_t end = 0;
  bool of_file = false;   // that statement is in no block
  std::vector<int> uses;  // names, in order
};

struct LuaFunction {
  int node = kNoNode;
  int outer = 0;           // the function that it is in
  std::string_view field;  // the field of a table constructor whose value it is: "plan", "each"
};

// A call that is a statement by itself.
struct LuaCallStatement {
  int call = kNoNode;
  int local = -1;  // the innermost local that it sees; LuaLocal::outer leads to the others
};

struct LuaTree {
  std::vector<LuaNode> nodes;
  std::vector<LuaLocal> locals;
  std::vector<LuaFunction> functions;  // 0: the file
  std::vector<LuaCallStatement> calls;
  std::vector<LuaComment> comments;
  std::set<std::string_view> names;  // of all variables
  std::size_t first_statement = 0;   // its begin; the end of a file without statements
};

// The most bytes, and the deepest nesting, which is Lua's own.
constexpr std::size_t kMaxLuaBytes = 1U << 20;
constexpr int kMaxLuaDepth = 200;

// `text` must outlive the tree. Kind "syntax" at the line in `file`.
Result<LuaTree> ParseLua(std::string_view text, const std::string& file);

}  // namespace muster
