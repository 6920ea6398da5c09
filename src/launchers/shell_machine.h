// The state and the rules of the shell interpreter: expansion of words (shell_expansion.cc), commands
// (shell_commands.cc), control flow (shell_script.cc). Its users are these three files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/shell_script.h"
#include "launchers/shell_syntax.h"
#include "muster/diagnostic.h"

namespace muster {

// Why the script is refused; does not leave OutcomeOfScript.
struct ScriptRefused {
  Diagnostics diagnostics;
};

struct ShellVariable {
  std::string text;
  std::optional<std::vector<std::string>> array;
  bool known = true;
  bool set = true;
  bool exported = false;
  std::string why;  // of an unknown value: "set in line 7"

  bool operator==(const ShellVariable&) const = default;

  static ShellVariable Unknown(std::string reason) {
    ShellVariable variable;
    variable.known = false;
    variable.why = std::move(reason);
    return variable;
  }
  // Not set; `exported`: processes do not inherit it.
  static ShellVariable Unset(bool exported) {
    ShellVariable variable;
    variable.set = false;
    variable.exported = exported;
    return variable;
  }
};

struct ShellFunction {
  std::shared_ptr<const ShellNode> body;  // null: it is unknown which
  bool operator==(const ShellFunction&) const = default;
};

struct ShellState {
  std::map<std::string, ShellVariable> variables;
  std::map<std::string, ShellFunction> functions;
  std::vector<std::string> arguments;
  bool arguments_known = true;
  std::optional<std::string> folder;  // absolute
  std::vector<std::string> stack;     // of pushd
  std::optional<int> status = 0;
};

// A word after expansion.
struct ShellField {
  std::string text;
  std::string quoted;    // for a POSIX shell: patterns stay patterns
  bool pattern = false;  // *, ? or [ of the script
};

struct ShellExpanded {
  std::vector<ShellField> fields;
  bool known = true;
  std::string why;  // of an unknown value
};

enum class ShellFlow : std::uint8_t { kNext, kBreak, kContinue, kReturn, kExit };

class ShellMachine {
 public:
  ShellMachine(const ScriptInput& input, const ScriptWorld& world);

  ScriptOutcome Run(std::string_view text);

 private:
  using Node = ShellNode;
  using NodePtr = std::shared_ptr<const ShellNode>;
  // What a command line prints, where the script reads it.
  struct Capture {
    std::string text;
    bool known = true;
  };
  // A piece of a word between its expansions.
  struct Piece {
    std::string text;
    bool quoted = false;
    bool expanded = false;  // split at blanks
    bool ends_field = false;
  };
  // What a branch has done beyond the common beginning.
  struct Tail {
    std::vector<ScriptLaunch> launches;
    std::vector<ScriptStep> steps;
    std::vector<ScriptActivation> activations;
    std::vector<ScriptNote> left_out;
  };
  struct Mark {
    std::size_t launches, steps, activations, left_out;
  };

  // shell_script.cc
  [[noreturn]] void Refuse(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void RefuseUnknown(const std::string& word, const std::string& why) const;
  NodePtr Parsed(const std::string& text) const;
  ShellFlow Execute(const NodePtr& node);
  ShellFlow ExecuteHere(const NodePtr& node);
  ShellFlow ExecuteInBackground(const NodePtr& node);
  ShellFlow ExecuteList(const NodePtr& node);
  ShellFlow ExecutePipeline(const NodePtr& node);
  ShellFlow ExecuteIf(const NodePtr& node, std::size_t at);
  ShellFlow ExecuteCase(const NodePtr& node);
  ShellFlow ExecuteWhile(const NodePtr& node);
  ShellFlow ExecuteFor(const NodePtr& node);
  ShellFlow ExecuteForCount(const NodePtr& node);
  ShellFlow ExecuteUnknownLoop(const NodePtr& body, const std::string& variable);
  bool LoopEnds(ShellFlow& flow);
  template <typename Yes, typename No>
  ShellFlow Branch(const NodePtr& condition, Yes yes, No no);
  void MergeState(const ShellState& other);
  void MergeTails(const NodePtr& condition, Tail& yes, Tail& no, std::uint32_t line);
  std::optional<std::string> ConditionText(const NodePtr& condition);
  Mark Here() const;
  Tail CutAt(const Mark& mark);
  void Append(Tail tail);
  void JoinOutput(const Capture& before, const Capture& yes, const Capture& no);
  ShellFlow RunSubshell(const NodePtr& node);
  ShellFlow RunFunction(const std::string& name, const std::vector<std::string>& arguments);
  ShellFlow RunScript(const std::string& path, const std::string& text, std::vector<std::string> arguments);

  // shell_expansion.cc
  ShellExpanded Expanded(const std::string& word);                // split into fields
  ShellExpanded ExpandedOne(const std::string& word);             // as one field, as in assignments
  std::optional<std::string> PatternOf(const std::string& word);  // quoted characters are escaped
  bool Pieces(std::string_view word, bool in_quotes, std::vector<Piece>& pieces);
  bool Dollar(std::string_view word, std::size_t& at, bool in_quotes, std::vector<Piece>& pieces);
  bool Braces(std::string_view inside, bool in_quotes, std::vector<Piece>& pieces);
  bool Parameter(std::string_view name, bool in_quotes, std::vector<Piece>& pieces);
  bool AddOutput(const std::string& command, bool in_quotes, std::vector<Piece>& pieces);
  bool Unknown(const std::string& why);
  std::optional<std::string> ValueOf(const std::string& name);  // "" if it is not set
  bool IsSet(const std::string& name) const;
  void Spend(std::size_t bytes);
  std::optional<std::vector<std::string>> Elements(std::string_view name);
  std::optional<std::int64_t> Arithmetic(const std::string& text);
  ShellVariables VariablesOfArithmetic();

  // shell_commands.cc
  ShellFlow ExecuteSimple(const NodePtr& node);
  ShellFlow Command(const NodePtr& node, std::vector<std::string> raw);
  bool Builtin(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw, ShellFlow& flow);
  bool FileCommand(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw);
  bool Harmless(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw);
  void Launch(const NodePtr& node, const std::vector<std::string>& raw);
  std::vector<std::string> AfterWrappers(std::vector<std::string> raw);
  void Assign(const std::string& word, bool exported, bool local);
  void SetVariable(const std::string& name, ShellVariable value);
  void Declare(const std::string& name, const std::vector<std::string>& raw);
  void Source(const std::vector<std::string>& raw);
  void ChangeFolder(const std::string& name, const std::vector<std::string>& raw);
  bool AddStep(const NodePtr& node, const std::vector<std::string>& raw, const std::string& output);
  std::string Redirected(const NodePtr& node);
  std::optional<std::vector<std::string>> Texts(const std::vector<std::string>& raw, std::size_t from);
  std::vector<std::string> KnownTexts(const std::vector<std::string>& raw, std::size_t from);
  std::optional<bool> TestWords(const std::vector<std::string>& words, const std::vector<bool>& known);
  std::optional<bool> DoubleTest(const std::vector<std::string>& raw, std::size_t& at, int level);
  std::optional<bool> DoubleTestOperand(const std::vector<std::string>& raw, std::size_t& at, int level);
  void SetStatus(std::optional<bool> holds);
  void Print(const std::optional<std::string>& text);
  void LeaveOut(const std::string& command, const std::string& effect);
  std::string InFolder(const std::string& path) const;
  static std::string Shown(const std::vector<std::string>& raw);
  static std::string SourceText(const NodePtr& node);

  const ScriptInput& input_;
  const ScriptWorld& world_;
  ShellState state_;
  ScriptOutcome outcome_;
  Capture* output_ = nullptr;  // null: the terminal
  std::uint32_t line_ = 0;
  std::uint32_t substituted_ = 0;  // line of the word whose $( … ) is evaluated; 0: none
  std::string file_;
  std::string cores_;                          // wrappers of the command that is evaluated
  std::map<std::string, std::string> prefix_;  // NAME=VALUE before it
  std::optional<std::string> prefix_trouble_;
  bool piped_ = false;   // its input is that of a pipeline
  int levels_ = 0;       // of loops, for break and continue
  int left_levels_ = 0;  // that a break or continue still leaves
  int depth_ = 0;        // of functions, substitutions and scripts
  int words_ = 0;        // depth of words within words
  int functions_ = 0;    // depth of function calls
  std::size_t steps_ = 0;
  std::size_t spent_ = 0;  // bytes of all texts that were made
  int phase_ = 0;
  bool running_ = false;  // there are processes that a `wait` waits for
  std::vector<std::map<std::string, std::optional<ShellVariable>>> locals_;
  std::string why_;  // of the last unknown expansion
};

bool MatchesShellPattern(std::string_view text, std::string_view pattern);

}  // namespace muster
