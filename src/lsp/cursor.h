// What is under the cursor in the text of a recipe that is being typed, so it need not be valid Lua: the expression,
// the tables and calls around it, and which expression each name stands for. Works on tokens; knows no API. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// muster.load("gpt.lua"):extend as links: a name, a member, a call, a method.
struct Link {
  enum class Kind : std::uint8_t { kName, kMember, kMethod, kCall };
  Kind kind = Kind::kName;
  std::string text;  // of kCall: the text that it is called with, if it is one
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const Link&) const = default;
};
using Chain = std::vector<Link>;

// A bracket or a function that is open at the cursor.
struct Enclosure {
  enum class Kind : std::uint8_t { kTable, kParentheses, kBrackets, kFunction, kBlock };
  Kind kind = Kind::kTable;
  Chain called;  // what the table or the parentheses are given to; empty for other ones
  std::size_t argument =
      0;            // of parentheses: which argument the cursor is in; of tables: how many elements came before
  std::string key;  // of the field of the enclosing table whose value this is; empty for elements of lists

  bool operator==(const Enclosure&) const = default;
};
using Enclosures = std::vector<Enclosure>;  // outermost first

// A local variable or a parameter of a function.
struct BoundName {
  Chain value;             // local NAME = value
  Enclosures function;     // of a parameter: where its function is; the last one is the function itself
  std::size_t number = 0;  // of a parameter, from 0
  bool is_parameter = false;
  std::size_t begin = 0;  // of the name
  std::size_t end = 0;
};

struct Cursor {
  Enclosures around;
  std::string key;        // the cursor is in the value of this field of the innermost table
  bool at_key = false;    // a field's name can stand here
  bool in_text = false;   // within the quotes of a text, the last link's neighbour: `word` is its content
  Chain chain;            // the expression under the cursor up to the cursor's own link, which may be unfinished
  std::string word;       // the name or text under the cursor, whole
  std::string typed;      // its part before the cursor
  std::size_t begin = 0;  // of `word` in the text
  std::size_t end = 0;
  std::map<std::string, BoundName> names;  // visible or not any more; the last one of each name
};

Cursor CursorAt(std::string_view text, std::size_t offset);

// A parameter that the text declares: `params = { NAME = muster.int { … } }`, with its blocks in the name.
struct DeclaredName {
  std::string name;
  std::string type;  // "int"; empty if it is none of muster's constructors
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What the text says without being evaluated.
struct RecipeOutline {
  std::vector<DeclaredName> parameters;
  std::string release;       // mindspore = "2.3.1"
  bool uses_muster = false;  // it requires a module of muster
};

RecipeOutline OutlineOf(std::string_view text);

// Where a message about the line `line` (from 1) points to in the text: the first of its quoted names, else of its
// other words, that the statement on that line has; otherwise the line without blanks around it.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_word = false;  // a name or a text (without its quotes), as the message has it
};
TextRange RangeOfMessage(std::string_view text, std::uint32_t line, std::string_view message);

}  // namespace muster
