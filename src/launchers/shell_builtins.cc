// Builtins of the shell interpreter, and programs whose output it computes.
#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "launchers/launcher_options.h"
#include "launchers/shell_machine.h"

namespace muster {
namespace {

std::string DirectoryOf(const std::string& path) {
  std::string text = path;
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos) return ".";
  text.resize(slash);
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text.empty() ? "/" : text;
}

std::string BaseOf(std::string path, const std::string& suffix) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path != "/") path = path.substr(path.rfind('/') + 1);
  if (!suffix.empty() && path.size() > suffix.size() && path.ends_with(suffix))
    path.resize(path.size() - suffix.size());
  return path;
}

std::optional<std::string> Sequence(const std::vector<std::string>& words) {
  std::int64_t from = 1, step = 1, to = 0;
  std::vector<std::int64_t> numbers;
  for (const std::string& word : words) {
    const auto number = ParseNumber<std::int32_t>(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty() || numbers.size() > 3) return std::nullopt;
  to = numbers.back();
  if (numbers.size() > 1) from = numbers[0];
  if (numbers.size() == 3) step = numbers[1];
  if (step == 0 || (to - from) / step > 4096) return std::nullopt;
  std::string text;
  for (std::int64_t n = from; step > 0 ? n <= to : n >= to; n += step) text += std::to_string(n) + "\n";
  return text;
}

// printf with %s, %d and \n alone.
std::optional<std::string> Formatted(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  std::string text;
  std::size_t next = 1;
  const std::string& format = words[0];
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i], following = i + 1 < format.size() ? format[i + 1] : '\0';
    if (c == '%' && (following == 's' || following == 'd')) {
      text += next < words.size() ? words[next++] : "";
      ++i;
    } else if (c == '\\' && (following == 'n' || following == 't')) {
      text += following == 'n' ? '\n' : '\t';
      ++i;
    } else if (c == '%' || c == '\\') {
      return std::nullopt;
    } else {
      text += c;
    }
  }
  return next < words.size() ? std::nullopt : std::optional(text);
}

using Three = std::optional<bool>;
Three Not(Three a) { return a ? Three(!*a) : a; }
Three And(Three a, Three b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Three(true) : std::nullopt;
}
Three Or(Three a, Three b) { return Not(And(Not(a), Not(b))); }

bool IsFileTest(const std::string& op) {
  return op.size() == 2 && op[0] == '-' &&
         std::string_view("abcdefghkprstuwxLOGNS").find(op[1]) != std::string_view::npos;
}

// Whether a comparison holds, is unknown, or is none because `op` is no operator.
enum class TestResult : std::uint8_t { kFalse, kTrue, kUnknown, kNone };

TestResult Comparison(const std::string& left, const std::string& op, const std::string& right) {
  const auto is = [](bool holds) { return holds ? TestResult::kTrue : TestResult::kFalse; };
  static const std::set<std::string_view> numeric = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
  if (op == "=" || op == "==") return is(left == right);
  if (op == "!=") return is(left != right);
  if (op == "<" || op == "\\<") return is(left < right);
  if (op == ">" || op == "\\>") return is(left > right);
  if (op == "-nt" || op == "-ot" || op == "-ef") return TestResult::kUnknown;
  if (!numeric.contains(op)) return TestResult::kNone;
  const auto a = ParseNumber<std::int64_t>(left), b = ParseNumber<std::int64_t>(right);
  if (!a || !b) return TestResult::kFalse;  // an error of the shell
  if (op == "-eq") return is(*a == *b);
  if (op == "-ne") return is(*a != *b);
  if (op == "-lt") return is(*a < *b);
  if (op == "-le") return is(*a <= *b);
  return is(op == "-gt" ? *a > *b : *a >= *b);
}

Three ThreeOf(TestResult compared) {
  if (compared == TestResult::kUnknown || compared == TestResult::kNone) return std::nullopt;
  return compared == TestResult::kTrue;
}

}  // namespace

// [ … ], without the brackets.
std::optional<bool> ShellMachine::TestWords(const std::vector<std::string>& words, const std::vector<bool>& known) {
  const auto part = [&](std::size_t from, std::size_t to) {
    return TestWords(
        {words.begin() + static_cast<std::ptrdiff_t>(from), words.begin() + static_cast<std::ptrdiff_t>(to)},
        {known.begin() + static_cast<std::ptrdiff_t>(from), known.begin() + static_cast<std::ptrdiff_t>(to)});
  };
  if (words.empty()) return false;
  if (words.size() == 1) return known[0] ? Three(!words[0].empty()) : std::nullopt;
  if (words.size() == 3 && known[1] && words[1] != "-a" && words[1] != "-o") {
    const TestResult compared = Comparison(words[0], words[1], words[2]);
    if (compared != TestResult::kNone) return known[0] && known[2] ? ThreeOf(compared) : std::nullopt;
  }
  for (const char* const op : {"-o", "-a"}) {
    for (std::size_t i = 1; i + 1 < words.size() && words.size() > 3; ++i) {
      if (!known[i] || words[i] != op) continue;
      const Three left = part(0, i), right = part(i + 1, words.size());
      return op[1] == 'o' ? Or(left, right) : And(left, right);
    }
  }
  if (known[0] && words[0] == "!") return Not(part(1, words.size()));
  if (words.size() == 2 && known[0]) {
    if (words[0] == "-z") return known[1] ? Three(words[1].empty()) : std::nullopt;
    if (words[0] == "-n") return known[1] ? Three(!words[1].empty()) : std::nullopt;
    if (IsFileTest(words[0])) {
      if (known[1] && words[1].empty()) return false;
      why_ = "`" + words[0] + " " + words[1] + "` tests a file";
      return std::nullopt;
    }
  }
  if (words.size() == 3 && known[1] && (words[1] == "-a" || words[1] == "-o")) {
    return words[1] == "-o" ? Or(part(0, 1), part(2, 3)) : And(part(0, 1), part(2, 3));
  }
  return std::nullopt;
}

std::optional<bool> ShellMachine::DoubleTest(const std::vector<std::string>& raw, std::size_t& at, int level) {
  if (level > 64) Refuse("`[[` is nested too deeply");
  Three all = false;
  bool first = true;
  do {
    if (!first) ++at;
    Three both = DoubleTestOperand(raw, at, level);
    while (at < raw.size() && raw[at] == "&&") {
      ++at;
      both = And(both, DoubleTestOperand(raw, at, level));
    }
    all = first ? both : Or(all, both);
    first = false;
  } while (at < raw.size() && raw[at] == "||");
  if (level == 0 && at < raw.size()) Refuse("`[[` has an unexpected word " + Quoted(raw[at]));
  return all;
}

std::optional<bool> ShellMachine::DoubleTestOperand(const std::vector<std::string>& raw, std::size_t& at, int level) {
  if (level > 64) Refuse("`[[` is nested too deeply");
  if (at >= raw.size()) Refuse("`[[` ends too early");
  if (raw[at] == "!") {
    ++at;
    return Not(DoubleTestOperand(raw, at, level + 1));
  }
  if (raw[at] == "(") {
    ++at;
    const Three inner = DoubleTest(raw, at, level + 1);
    if (at >= raw.size() || raw[at] != ")") Refuse("`[[` has no closing parenthesis");
    ++at;
    return inner;
  }
  const auto ends = [&](std::size_t i) { return i >= raw.size() || raw[i] == "&&" || raw[i] == "||" || raw[i] == ")"; };
  const std::size_t first = at;
  while (!ends(at)) ++at;
  const std::size_t count = at - first;
  if (count == 3 && (raw[first + 1] == "==" || raw[first + 1] == "=" || raw[first + 1] == "!=")) {
    const ShellExpanded left = ExpandedOne(raw[first]);
    const auto pattern = PatternOf(raw[first + 2]);
    if (!left.known || !pattern) return std::nullopt;
    constexpr std::size_t kMaxText = 4096;
    if (left.fields[0].text.size() > kMaxText) return std::nullopt;
    return MatchesShellPattern(left.fields[0].text, *pattern) == (raw[first + 1] != "!=");
  }
  if (count == 3 && raw[first + 1].starts_with('-')) {
    // Operands are arithmetic.
    const auto a = Arithmetic(raw[first]), b = Arithmetic(raw[first + 2]);
    if (!a || !b) return std::nullopt;
    return ThreeOf(Comparison(std::to_string(*a), raw[first + 1], std::to_string(*b)));
  }
  std::vector<std::string> words;
  std::vector<bool> known;
  for (std::size_t i = first; i < at; ++i) {
    const ShellExpanded word = ExpandedOne(raw[i]);
    known.push_back(word.known);
    words.push_back(word.known ? word.fields[0].text : raw[i]);
  }
  if (count == 3 && words[1] == "=~") return std::nullopt;
  return TestWords(words, known);
}

void ShellMachine::ChangeFolder(const std::string& name, const std::vector<std::string>& raw) {
  std::size_t at = 1;
  while (at < raw.size() && (raw[at] == "-P" || raw[at] == "-L" || raw[at] == "--" || raw[at] == "-n")) ++at;
  const auto words = Texts(raw, at);
  const std::string why = why_;
  const std::optional<std::string> former = state_.folder;
  state_.status = 0;
  if (name == "popd") {
    if (state_.stack.empty()) Refuse("`popd` without `pushd`");
    state_.folder = state_.stack.back();
    state_.stack.pop_back();
    return;
  }
  if (!words) {
    state_.folder = std::nullopt;
  } else if (words->empty() && name == "cd") {
    state_.folder = ValueOf("HOME");
  } else if (words->empty()) {
    Refuse("`pushd` without a folder");
  } else if (words->front() == "-") {
    state_.folder = IsSet("OLDPWD") ? ValueOf("OLDPWD") : std::nullopt;
  } else if (words->front().starts_with('/') || state_.folder) {
    state_.folder = InFolder(words->front());
  }
  if (name == "pushd") {
    if (!former) Refuse("the folder does not follow from the script");
    state_.stack.push_back(*former);
    if (state_.stack.size() > 1000) Refuse("`pushd` is called too often");
  }
  ShellVariable old;
  old.known = former.has_value();
  old.text = former.value_or("");
  if (!former) old.why = "the folder was unknown";
  state_.variables["OLDPWD"] = std::move(old);
}

// A file whose commands become part of the script. What it exports is also left to the file itself.
void ShellMachine::Source(const std::vector<std::string>& raw) {
  const auto words = KnownTexts(raw, 1);
  if (words.empty()) Refuse("`source` names no file");
  const std::string& file = words[0];
  state_.status = 0;
  if (FileName(file) == "activate" && words.size() == 2) {
    outcome_.activations.push_back({ScriptActivation::Kind::kConda, words[1]});
    return;
  }
  if (file.ends_with("/conda.sh")) return LeaveOut(Shown(raw), "made `conda` known; `job:activate` does");
  if (!file.starts_with('/') && !state_.folder)
    Refuse("which file `" + Shown(raw) + "` reads does not follow from the script");
  const std::string path = InFolder(file);
  if (functions_ >= 32) Refuse("scripts read each other too deeply");
  const auto text = world_.read(path);
  const ShellState before = state_;
  bool exports = !text.has_value();
  if (text) {
    const Mark mark = Here();
    const std::uint32_t line = line_;
    const std::uint32_t outer = std::exchange(substituted_, substituted_ != 0 ? substituted_ : line_);
    const int depth = depth_, words_depth = words_, levels = levels_, functions = functions_;
    Capture ignored;
    Capture* const output = output_;
    try {
      const NodePtr parsed = Parsed(*text);
      ++functions_;
      const auto arguments = state_.arguments;
      if (words.size() > 1) state_.arguments.assign(words.begin() + 1, words.end());
      const ShellFlow flow = Execute(parsed);
      state_.arguments = arguments;
      --functions_;
      if (flow == ShellFlow::kExit) Refuse("`" + Shown(raw) + "` ends the script");
    } catch (const ScriptRefused&) {
      functions_ = functions;
      words_ = words_depth;
      CutAt(mark);
      state_ = before;
      exports = true;
      depth_ = depth;
      levels_ = levels;
      output_ = output;
    }
    substituted_ = outer;
    line_ = line;
    for (const auto& [name, variable] : state_.variables) {
      const auto former = before.variables.find(name);
      if (!variable.exported || (former != before.variables.end() && former->second == variable)) continue;
      exports = true;
      // What depends on the variables of this shell is left to the file.
      if (!variable.known) state_.variables[name].exported = false;
    }
  }
  state_.status = 0;
  if (exports) outcome_.activations.push_back({ScriptActivation::Kind::kSource, path});
}

bool ShellMachine::Builtin(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw,
                           ShellFlow& flow) {
  static const std::set<std::string_view> declarations = {"export", "local", "declare", "typeset", "readonly"};
  if (declarations.contains(name)) {
    Declare(name, raw);
  } else if (name == "unset") {
    for (const std::string& word : KnownTexts(raw, 1)) {
      if (word == "-f" || word == "-v") continue;
      if (IsIdentifier(word))
        state_.variables[word] = ShellVariable::Unset(world_.variable && world_.variable(word).has_value());
    }
    state_.status = 0;
  } else if (name == "[" || name == "test") {
    std::vector<std::string> words;
    std::vector<bool> known;
    std::string why;
    for (std::size_t i = 1; i < raw.size(); ++i) {
      const ShellExpanded word = Expanded(raw[i]);
      if (!word.known) {
        words.push_back(raw[i]);
        known.push_back(false);
        why = word.why;
      }
      for (const ShellField& field : word.fields) {
        words.push_back(field.text);
        known.push_back(!field.pattern);
      }
    }
    if (name == "[") {
      if (words.empty() || words.back() != "]") Refuse("`[` has no `]`");
      words.pop_back();
      known.pop_back();
    }
    SetStatus(TestWords(words, known));
    if (!why.empty()) why_ = why;
  } else if (name == "cd" || name == "pushd" || name == "popd") {
    ChangeFolder(name, raw);
  } else if (name == "source" || name == ".") {
    Source(raw);
  } else if (name == "eval") {
    if (const std::string shown = Shown(raw);
        shown.find("conda") != std::string::npos && shown.find("hook") != std::string::npos) {
      LeaveOut(Shown(raw), "made `conda` known; `job:activate` does");
      state_.status = 0;
      return true;
    }
    std::string text;
    for (const std::string& word : KnownTexts(raw, 1)) text += (text.empty() ? "" : " ") + word;
    const std::uint32_t outer = substituted_;
    const std::uint32_t line = line_;
    if (depth_ > 200) Refuse("`eval` is nested too deeply");
    const NodePtr parsed = Parsed(text);
    flow = Execute(parsed);
    substituted_ = outer;
    line_ = line;
  } else if (name == "let") {
    std::optional<std::int64_t> last = 0;
    for (const std::string& word : KnownTexts(raw, 1)) last = Arithmetic(word);
    SetStatus(last ? std::optional(*last != 0) : std::nullopt);
  } else if (name == "shift") {
    const auto count =
        raw.size() > 1 ? ParseNumber<std::size_t>(KnownTexts(raw, 1).at(0)) : std::optional<std::size_t>(1);
    if (!count) Refuse("`shift` without a number");
    SetStatus(*count <= state_.arguments.size());
    if (*count <= state_.arguments.size())
      state_.arguments.erase(state_.arguments.begin(), state_.arguments.begin() + static_cast<std::ptrdiff_t>(*count));
  } else if (name == "set") {
    if (raw.size() > 1 && raw[1] == "--") {
      state_.arguments = KnownTexts(raw, 2);
      state_.arguments_known = true;
    } else {
      for (const std::string& word : raw) {
        if (word == "-o" || word == "set" || word.starts_with('+')) continue;
        if (word.starts_with('-') && word.find('a') != std::string::npos)
          Refuse("`set -a` exports every variable", "export those that processes need");
        if (word.starts_with('-') && word.find('e') != std::string::npos) outcome_.stops_at_errors = true;
      }
      LeaveOut(Shown(raw), "set an option of the shell");
    }
    state_.status = 0;
  } else if (name == "exit" || name == "return") {
    const auto code = raw.size() > 1 ? Texts(raw, 1) : std::nullopt;
    if (raw.size() > 1) {
      const auto number = code && code->size() == 1 ? ParseNumber<int>(code->front()) : std::nullopt;
      state_.status = number ? std::optional(*number & 255) : std::nullopt;
    }
    flow = name == "exit" ? ShellFlow::kExit : ShellFlow::kReturn;
  } else if (name == "break" || name == "continue") {
    const auto count = raw.size() > 1 ? ParseNumber<int>(raw[1]) : std::optional(1);
    if (!count || *count < 1) Refuse("`" + name + "` without a number");
    if (levels_ == 0) return true;
    left_levels_ = std::min(*count, levels_);
    flow = name == "break" ? ShellFlow::kBreak : ShellFlow::kContinue;
  } else if (name == "wait") {
    if (running_) ++phase_;
    running_ = false;
    state_.status = 0;
  } else if (name == "true" || name == ":" || name == "false") {
    for (std::size_t i = 1; i < raw.size(); ++i) static_cast<void>(Expanded(raw[i]));
    state_.status = name == "false" ? 1 : 0;
  } else if (name == "echo" || name == "printf" || (name == "cat" && raw.size() == 1 && !node->redirections.empty())) {
    bool newline = name == "echo", escapes = false;
    std::optional<std::string> text;
    const std::string output = Redirected(node);
    if (name == "cat") {
      for (const ShellRedirection& one : node->redirections) {
        if (one.op != "<<" && one.op != "<<<") continue;
        std::vector<Piece> pieces;
        why_.clear();
        if (one.literal) {
          text = one.target;
        } else if (Pieces(one.target, one.op == "<<", pieces)) {
          text.emplace();
          for (const Piece& piece : pieces) *text += piece.text;
          if (one.op == "<<<") *text += "\n";
        }
      }
    } else if (auto words = Texts(raw, 1)) {
      while (name == "echo" && !words->empty() &&
             (words->front() == "-n" || words->front() == "-e" || words->front() == "-en" || words->front() == "-ne")) {
        newline = newline && words->front().find('n') == std::string::npos;
        escapes = escapes || words->front().find('e') != std::string::npos;
        words->erase(words->begin());
      }
      if (name == "printf") {
        text = Formatted(*words);
      } else {
        text.emplace();
        for (std::size_t i = 0; i < words->size(); ++i) *text += (i == 0 ? "" : " ") + (*words)[i];
        if (escapes && text->find('\\') != std::string::npos) text = std::nullopt;
        if (text && newline) *text += "\n";
      }
    }
    state_.status = 0;
    if (output.empty() && output_ != nullptr) {
      Print(text);
    } else if (output.empty() || output == "&2" || output == "/dev/null") {
      LeaveOut(name, "printed to the terminal");
    } else if (text && output != "?") {
      if (name == "cat") return AddStep(node, raw, output);
      ShellNode printed;
      printed.redirections = node->redirections;
      AddStep(std::make_shared<const ShellNode>(printed), {"printf", "%s", ShellQuoted(*text)}, output);
    } else {
      LeaveOut(Shown(raw), "wrote to a file what does not follow from the script");
    }
  } else if (name == "pwd") {
    Print(state_.folder ? std::optional(*state_.folder + "\n") : std::nullopt);
    if (output_ == nullptr) LeaveOut("pwd", "printed to the terminal");
    state_.status = 0;
  } else if (name == "seq" || name == "expr" || name == "dirname" || name == "basename" || name == "realpath" ||
             name == "readlink") {
    const auto words = Texts(raw, 1);
    std::optional<std::string> text;
    state_.status = 0;
    if (words && name == "seq") text = Sequence(*words);
    if (words && name == "expr") {
      const auto value = ExprValue(*words);
      if (value) text = *value + "\n";
      state_.status = value ? std::optional(*value == "0" || value->empty() ? 1 : 0) : std::nullopt;
    }
    std::vector<std::string> operands;
    for (const std::string& word : words.value_or(std::vector<std::string>{})) {
      if (!word.starts_with("-") || word == "-") operands.push_back(word);
    }
    if (words && name == "dirname" && operands.size() == 1) text = DirectoryOf(operands[0]) + "\n";
    if (words && name == "basename" && (operands.size() == 1 || operands.size() == 2))
      text = BaseOf(operands[0], operands.size() == 2 ? operands[1] : std::string()) + "\n";
    const bool follows = name == "realpath" || (name == "readlink" && words && words->size() > operands.size());
    if (words && follows && operands.size() == 1 && (state_.folder || operands[0].starts_with('/'))) {
      const std::string path = InFolder(operands[0]);
      text = (operands[0].empty() ? std::string() : (world_.real_path ? world_.real_path(path) : path) + "\n");
    }
    Print(text);
    if (output_ == nullptr) LeaveOut(Shown(raw), "printed to the terminal");
  } else if (name == "read" || name == "getopts" || name == "mapfile" || name == "readarray") {
    for (std::size_t i = 1; i < raw.size(); ++i) {
      if (IsIdentifier(raw[i])) SetVariable(raw[i], ShellVariable::Unknown(fmt::format("read in line {}", line_)));
    }
    if (name == "getopts")
      SetVariable("OPTARG", ShellVariable::Unknown(fmt::format("an option, read in line {}", line_)));
    why_ = "`" + name + "` reads what does not follow from the script";
    state_.status = std::nullopt;
  } else if (name == "ulimit" || name == "umask" || name == "trap" || name == "shopt") {
    if (output_ != nullptr) Print(std::nullopt);
    if (output_ == nullptr) {
      LeaveOut(Shown(raw), name == "ulimit"  ? "changed a limit of the processes, which inherit those of `muster run`"
                           : name == "umask" ? "changed the mode of new files; processes inherit that of `muster run`"
                           : name == "trap"  ? "acted on signals; muster stops every process"
                                             : "set an option of the shell");
    }
    state_.status = 0;
  } else if (name == "conda" || name == "module" || name == "ml") {
    const auto words = KnownTexts(raw, 1);
    state_.status = 0;
    const bool loads = name == "ml" || (!words.empty() && (words[0] == "load" || words[0] == "add"));
    if (name == "conda" && words.size() == 2 && words[0] == "activate") {
      outcome_.activations.push_back({ScriptActivation::Kind::kConda, words[1]});
    } else if (name != "conda" && loads) {
      for (std::size_t i = name == "ml" ? 0 : 1; i < words.size(); ++i)
        outcome_.activations.push_back({ScriptActivation::Kind::kModule, words[i]});
    } else if (!words.empty() &&
               (words[0] == "list" || words[0] == "avail" || words[0] == "info" || words[0] == "env")) {
      LeaveOut(Shown(raw), "printed to the terminal");
    } else {
      Refuse("`" + Shown(raw) +
                 "` changes the environment in a way that a recipe cannot: `job:activate` loads modules, "
                 "activates a conda environment and reads files",
             "put it into a file, and read that: source FILE");
    }
  } else if (name == "kill" || name == "pkill" || name == "killall") {
    if (running_) Refuse("`" + Shown(raw) + "` ends processes while the job runs");
    LeaveOut(Shown(raw), "ended processes before the start; `muster ps` lists those of muster");
    state_.status = std::nullopt;
  } else {
    return false;
  }
  return true;
}

}  // namespace muster
