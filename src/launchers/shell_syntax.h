// Parses shell scripts into a tree of commands. Pure; expands nothing. The grammar is that of bash as scripts use it:
// lists, pipelines, `if`, `for`, `while`, `case`, functions, groups, subshells, redirections and here-documents.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"

namespace muster {

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

bool IsShellName(std::string_view text);

}  // namespace muster
