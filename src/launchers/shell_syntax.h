// The grammar of shell scripts: parses them into a tree of commands, and evaluates their arithmetic. Pure; expands
// nothing. The grammar is that of bash as scripts use it: lists, pipelines, `if`, `for`, `while`, `case`, functions,
// groups, subshells, redirections and here-documents; $(( … )), (( … )), let and expr.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"

namespace muster {

// Parses shell scripts into a tree of commands. Pure; expands nothing. The grammar is that of bash as scripts use it:
// lists, pipelines, `if`, `for`, `while`, `case`, functions, groups, subshells, redirections and here-documents.

struct ShellRedirection {
  std::string op;        // "<", ">", ">>", ">&", "<&", "&>", "<<", "<<<", …
  int descriptor = -1;   // -1: that of the operator
  std::string target;    // as in the script; of a here-document its text
  bool literal = false;  // a here-document that is not expanded
};

struct ShellNode;
using ShellList = std::vector<std::shared_ptr<const ShellNode>>;

struct ShellNode {
  enum class Kind : std::uint8_t {
    kSimple,      // words
    kTest,        // [[ … ]]: words
    kArithmetic,  // (( … )): words[0]
    kAnd,         // parts: left, right
    kOr,          // parts: left, right
    kNot,         // parts[0]
    kPipeline,    // parts: two or more
    kIf,          // parts: condition, body, …; otherwise: else
    kWhile,       // parts: condition, body
    kUntil,       // parts: condition, body
    kFor,         // words: name, then values; parts[0]: body; `all_arguments`: without `in`
    kForCount,    // words: the three expressions; parts[0]: body
    kCase,        // words[0]; patterns[i] of parts[i]
    kFunction,    // words[0]: name; parts[0]: body
    kSubshell,    // parts[0]
    kList,        // commands, one after the other
  };
  Kind kind = Kind::kSimple;
  std::uint32_t line = 1;
  bool background = false;
  bool all_arguments = false;
  std::vector<std::string> words;  // as in the script, with quotes and $
  ShellList parts;
  ShellList otherwise;
  std::vector<std::vector<std::string>> patterns;
  std::vector<ShellRedirection> redirections;
};

// The script as one kList. Kind "usage", with file and line: more than 1 MiB, 50,000 commands or 100 levels; a
// construct that is not closed, or not of the grammar above.
Result<std::shared_ptr<const ShellNode>> ParsedShell(std::string_view text, const std::string& file);

// The index after the quoted text, `…`, $(…) or ${…} that begins at `at` with its opening character.
std::size_t EndOfShellGroup(std::string_view text, std::size_t at);

// Evaluates the arithmetic of shells: $(( … )), (( … )), let and expr.

struct ShellVariables {
  // The value of a variable: "" if it is not set, nothing if it is unknown.
  std::function<std::optional<std::string>(const std::string& name)> value;
  // Assigns a number, or makes the variable unknown.
  std::function<void(const std::string& name, std::optional<std::int64_t> number)> assign;
};

// The value of `text`, in which $ has been expanded; an empty text is 0. Nothing if it depends on an unknown value, and
// for errors (a division by zero, a syntax error, more than 64 levels); variables that it would assign are unknown
// then.
std::optional<std::int64_t> ShellArithmetic(std::string_view text, const ShellVariables& variables);

// What `expr WORD…` prints: sums and comparisons of whole numbers, `length`, `substr`. Nothing for anything else.
std::optional<std::string> ExprValue(std::span<const std::string> words);

}  // namespace muster
