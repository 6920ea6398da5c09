// Commands of the shell interpreter: each is evaluated, kept as a launch, a step or an activation, or listed as left
// out.
#include <algorithm>
#include <array>
#include <cctype>
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

using Names = std::set<std::string_view>;

constexpr std::size_t kMaxLaunches = 4096;
constexpr std::size_t kMaxStepTexts = 65'536;

// Programs that only print.
const Names& Printers() {
  static const Names known = {
      "ls",     "date",  "nvidia-smi", "npu-smi",  "hostname", "whoami", "id",      "uname", "df",      "du",
      "free",   "ps",    "top",        "cat",      "head",     "tail",   "grep",    "egrep", "fgrep",   "awk",
      "gawk",   "sed",   "sort",       "uniq",     "wc",       "cut",    "tr",      "tee",   "sleep",   "clear",
      "nproc",  "lscpu", "env",        "printenv", "which",    "type",   "command", "hash",  "history", "jobs",
      "disown", "alias", "file",       "stat",     "md5sum",   "diff",   "cmp",     "find",  "pgrep",   "jq",
      "bc",     "tty",   "ifconfig",   "ip",       "lspci",    "getopt", "xargs"};
  return known;
}

// Programs that change files.
const Names& FilePrograms() {
  static const Names known = {"mkdir", "cp",  "rm",    "mv",     "ln",    "touch",  "rmdir",
                              "chmod", "tar", "unzip", "gunzip", "rsync", "install"};
  return known;
}

std::string Lexical(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::size_t AssignedName(const std::string& word) {
  std::size_t end = 0;
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_')) ++end;
  if (!IsIdentifier(std::string_view(word).substr(0, end))) return 0;
  std::size_t after = end;
  if (after < word.size() && word[after] == '[') after = EndOfShellGroup(word, after);
  if (after < word.size() && word[after] == '+') ++after;
  return after < word.size() && word[after] == '=' ? end : 0;
}

std::string JoinedWords(const std::vector<std::string>& words, std::string_view between = " ") {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? std::string() : std::string(between)) + words[i];
  return text;
}

}  // namespace

std::string ShellMachine::Shown(const std::vector<std::string>& raw) {
  constexpr std::size_t kMaxShown = 100;
  std::string text = JoinedWords(raw);
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown - 3) + "...";
  return text;
}

void ShellMachine::LeaveOut(const std::string& command, const std::string& effect) {
  const std::uint32_t line = substituted_ != 0 ? substituted_ : line_;
  ScriptNote note = {command, effect, line};
  const auto& all = outcome_.left_out;
  constexpr std::size_t kMaxNotes = 10'000;
  // A loop reports each of its commands once.
  const std::size_t recent = all.size() > 64 ? all.size() - 64 : 0;
  if (std::find(all.begin() + static_cast<std::ptrdiff_t>(recent), all.end(), note) != all.end()) return;
  if (all.size() > kMaxNotes) Refuse("the script runs too many commands");
  outcome_.left_out.push_back(std::move(note));
}

void ShellMachine::SetStatus(std::optional<bool> holds) {
  state_.status = holds ? std::optional(*holds ? 0 : 1) : std::nullopt;
}

void ShellMachine::Print(const std::optional<std::string>& text) {
  if (output_ == nullptr) return;
  constexpr std::size_t kMaxOutput = 64 * 1024;
  if (!text) output_->known = false;
  if (text) output_->text += *text;
  if (output_->text.size() > kMaxOutput) Refuse("a command prints too much");
}

std::string ShellMachine::InFolder(const std::string& path) const {
  if (path.starts_with('/')) return Lexical(path);
  return Lexical(state_.folder.value_or("/") + "/" + path);
}

// The words after expansion; nothing if one is unknown.
std::optional<std::vector<std::string>> ShellMachine::Texts(const std::vector<std::string>& raw, std::size_t from) {
  std::vector<std::string> texts;
  std::string why;
  bool known = true;
  for (std::size_t i = from; i < raw.size(); ++i) {
    const ShellExpanded word = Expanded(raw[i]);
    if (!word.known && known) why = word.why;
    known = known && word.known;
    for (const ShellField& field : word.fields) {
      if (field.pattern && known) why = "which files " + field.text + " matches";
      known = known && !field.pattern;
      texts.push_back(field.text);
    }
  }
  why_ = why;
  if (!known) return std::nullopt;
  return texts;
}

// The same where nothing can go on without them.
std::vector<std::string> ShellMachine::KnownTexts(const std::vector<std::string>& raw, std::size_t from) {
  auto texts = Texts(raw, from);
  if (!texts) RefuseUnknown(JoinedWords(raw), why_);
  return *std::move(texts);
}

void ShellMachine::SetVariable(const std::string& name, ShellVariable value) {
  const auto found = state_.variables.find(name);
  const bool inherited = found == state_.variables.end() && world_.variable && world_.variable(name).has_value();
  value.exported = value.exported || inherited || (found != state_.variables.end() && found->second.exported);
  Spend(name.size() + value.text.size());
  for (const std::string& element : value.array.value_or(std::vector<std::string>{})) Spend(element.size() + 16);
  constexpr std::size_t kMaxVariables = 10'000;
  if (state_.variables.size() > kMaxVariables) Refuse("the script has too many variables");
  state_.variables[name] = std::move(value);
}

void ShellMachine::Assign(const std::string& word, bool exported, bool local) {
  const std::size_t end = AssignedName(word);
  const std::string name = word.substr(0, end);
  if (local && !locals_.empty() && !locals_.back().contains(name)) {
    const auto former = state_.variables.find(name);
    locals_.back()[name] = former == state_.variables.end() ? std::nullopt : std::optional(former->second);
  }
  std::size_t at = end;
  std::optional<std::string> index;
  if (word[at] == '[') {
    const std::size_t close = EndOfShellGroup(word, at);
    index = word.substr(at + 1, std::max(close, at + 2) - at - 2);
    at = close;
  }
  const bool appends = word[at] == '+';
  std::string raw = word.substr(at + (appends ? 2 : 1));
  const std::uint32_t line = substituted_ != 0 ? substituted_ : line_;
  ShellVariable value;
  value.exported = exported;
  const auto unknown = [&](const std::string& why) {
    value.known = false;
    value.why = fmt::format("set in line {}", line) + (why.empty() ? "" : ": " + why);
  };
  const auto former = state_.variables.find(name);
  if (raw.starts_with('(') && !index) {
    value.array.emplace();
    if (appends && former != state_.variables.end()) {
      if (!former->second.known) unknown(former->second.why);
      if (former->second.known) value.array = former->second.array.value_or(std::vector{former->second.text});
    }
    std::string inside = raw.substr(1, raw.size() - 2);
    std::replace(inside.begin(), inside.end(), '\n', ' ');
    if (const NodePtr parsed = Parsed("_ " + inside); !parsed->parts.empty()) {
      const auto elements = Texts(parsed->parts[0]->words, 1);
      if (!elements) unknown(why_);
      if (elements) value.array->insert(value.array->end(), elements->begin(), elements->end());
    }
    return SetVariable(name, std::move(value));
  }
  const bool digits = !raw.empty() && raw.size() < 9 && std::all_of(raw.begin(), raw.end(), IsDigit);
  if (digits && !index && !appends && functions_ == 0 && substituted_ == 0) {
    const ScriptLiteral literal = {line, name};
    outcome_.literals.emplace(literal, raw);
    if (const auto other = input_.literals.find(literal); other != input_.literals.end()) raw = other->second;
  }
  const ShellExpanded expanded = ExpandedOne(raw);
  if (expanded.known) {
    value.text = expanded.fields[0].text;
  } else {
    unknown(expanded.why);
  }
  if (index) {
    const auto number = Arithmetic(*index);
    constexpr std::int64_t kMaxElements = 8192;
    ShellVariable array = former == state_.variables.end() ? ShellVariable{} : former->second;
    if (!array.array) array.array.emplace();
    if (!number || *number < 0 || *number > kMaxElements || !value.known || !array.known || appends) {
      array.known = false;
      array.why = fmt::format("set in line {}", line);
    } else {
      array.array->resize(std::max(array.array->size(), static_cast<std::size_t>(*number) + 1));
      (*array.array)[static_cast<std::size_t>(*number)] = value.text;
    }
    return SetVariable(name, std::move(array));
  }
  if (appends && former != state_.variables.end()) {
    if (!former->second.known) unknown(former->second.why);
    value.text = former->second.text + value.text;
  }
  if (input_.rank_offset != 0 && value.known && (name == "RANK_ID" || name == "RANK")) {
    if (const auto number = ParseNumber<std::int64_t>(value.text);
        number && *number >= 0 && *number < input_.rank_offset)
      value.text = std::to_string(*number + input_.rank_offset);
  }
  SetVariable(name, std::move(value));
}

// export, local, declare, typeset, readonly
void ShellMachine::Declare(const std::string& name, const std::vector<std::string>& raw) {
  bool exported = name == "export", removed = false, maps = false;
  const bool local = name == "local" || ((name == "declare" || name == "typeset") && functions_ > 0);
  state_.status = 0;
  for (std::size_t i = 1; i < raw.size(); ++i) {
    std::string word = raw[i];
    if (word.starts_with('-') || word.starts_with('+')) {
      exported = exported || word.find('x') != std::string::npos;
      removed = removed || (name == "export" && word.find('n') != std::string::npos);
      maps = maps || word.find('A') != std::string::npos;
      if (word.find('p') != std::string::npos) Print(std::nullopt);
      continue;
    }
    if (AssignedName(word) == 0) {
      // `export $NAME=1`, or names alone.
      const ShellExpanded expanded = Expanded(word);
      if (!expanded.known) RefuseUnknown(word, expanded.why);
      for (const ShellField& field : expanded.fields) {
        if (AssignedName(field.text) > 0) {
          Assign(
              field.text.substr(0, field.text.find('=') + 1) + ShellQuoted(field.text.substr(field.text.find('=') + 1)),
              exported, local);
        } else if (!IsIdentifier(field.text)) {
          Refuse(fmt::format("`{}` has an unexpected word {}", name, Quoted(field.text)));
        } else if (local) {
          Assign(field.text + "=", exported, local);
          if (maps) state_.variables[field.text].known = false;
        } else if (const auto found = state_.variables.find(field.text); found != state_.variables.end()) {
          found->second.exported = (found->second.exported || exported) && !removed;
        } else if (maps) {
          state_.variables[field.text] = ShellVariable::Unknown(fmt::format("a map, declared in line {}", line_));
        }
      }
      continue;
    }
    Assign(word, exported, local);
    if (removed) state_.variables[word.substr(0, AssignedName(word))].exported = false;
  }
}

// The file that standard output goes to: "" without a redirection, "&2", a text for a POSIX shell, or "?".
std::string ShellMachine::Redirected(const NodePtr& node) {
  std::string output;
  for (const ShellRedirection& one : node->redirections) {
    if (one.op.starts_with("<") || one.op == "<<<") continue;
    if (one.descriptor > 1 || (one.descriptor == 0)) continue;
    if ((one.op == ">&" && one.target == "1") || (one.op == ">&" && one.target == "-")) continue;
    if (one.op == ">&" && one.target == "2") {
      output = "&2";
      continue;
    }
    const ShellExpanded target = ExpandedOne(one.target);
    output = target.known ? target.fields[0].quoted : "?";
  }
  return output;
}

bool ShellMachine::AddStep(const NodePtr& node, const std::vector<std::string>& raw, const std::string& output) {
  static_cast<void>(output);
  std::string text;
  const auto add = [&](const std::string& word, bool one) {
    const ShellExpanded expanded = one ? ExpandedOne(word) : Expanded(word);
    if (!expanded.known) RefuseUnknown(word, expanded.why);
    for (const ShellField& field : expanded.fields) text += (text.empty() ? "" : " ") + field.quoted;
  };
  for (const auto& [name, value] : prefix_) text += (text.empty() ? "" : " ") + name + "=" + ShellQuoted(value);
  for (const std::string& word : raw) add(word, false);
  if (piped_) Refuse("a file is changed by a pipeline", "do it before the start, and leave it out of the script");
  for (const ShellRedirection& one : node->redirections) {
    if (one.op == "<<" || one.op == "<<<") {
      std::string here = one.target;
      if (!one.literal) {
        std::vector<Piece> pieces;
        why_.clear();
        if (!Pieces(one.target, one.op == "<<", pieces)) RefuseUnknown("<<", why_);
        here.clear();
        for (const Piece& piece : pieces) here += piece.text;
      }
      text = "printf %s " + ShellQuoted(here) + " | " + text;
      continue;
    }
    text += text.empty() ? ":" : "";
    if (one.descriptor >= 0 && !one.op.starts_with("&")) text += fmt::format(" {}", one.descriptor);
    if (one.descriptor < 0 || one.op.starts_with("&")) text += " ";
    if (one.op == ">&" || one.op == "<&") {
      text += one.op + one.target;
      continue;
    }
    text += one.op.starts_with("&") ? one.op.substr(1) : one.op;
    add(one.target, true);
    if (one.op.starts_with("&")) text += " 2>&1";
  }
  if (!state_.folder)
    Refuse("in which folder `" + Shown(raw) + "` works does not follow from the script",
           "write the folder into the script");
  if (outcome_.steps.size() >= kMaxStepTexts) Refuse("the script changes too many files");
  Spend(text.size() + state_.folder->size());
  outcome_.steps.push_back({*state_.folder, text, substituted_ != 0 ? substituted_ : line_});
  state_.status = 0;
  return true;
}

ShellFlow ShellMachine::ExecuteSimple(const NodePtr& node) {
  std::size_t first = 0;
  while (first < node->words.size() && AssignedName(node->words[first]) > 0) ++first;
  if (first == node->words.size()) {
    state_.status = 0;
    for (const std::string& word : node->words) Assign(word, false, false);
    if (const std::string output = Redirected(node); !output.empty() && output != "/dev/null" && output != "&2")
      AddStep(node, {}, output);
    return ShellFlow::kNext;
  }
  const auto outer = std::exchange(prefix_, {});
  const auto outer_trouble = std::exchange(prefix_trouble_, std::nullopt);
  const std::string outer_cores = std::exchange(cores_, {});
  for (std::size_t i = 0; i < first; ++i) {
    const std::string& word = node->words[i];
    const std::size_t end = AssignedName(word);
    const ShellExpanded value = ExpandedOne(word.substr(word.find('=') + 1));
    if (value.known && word[end] == '=') {
      prefix_[word.substr(0, end)] = value.fields[0].text;
    } else {
      prefix_trouble_ = word.substr(0, end) + " has a value that does not follow from the script" +
                        (value.why.empty() ? "" : ": " + value.why);
    }
  }
  const ShellFlow flow = Command(node, {node->words.begin() + static_cast<std::ptrdiff_t>(first), node->words.end()});
  prefix_ = outer;
  prefix_trouble_ = outer_trouble;
  cores_ = outer_cores;
  return flow;
}

ShellFlow ShellMachine::Command(const NodePtr& node, std::vector<std::string> raw) {
  ShellExpanded first = Expanded(raw[0]);
  if (!first.known) RefuseUnknown(raw[0], first.why);
  if (first.fields.empty()) {
    raw.erase(raw.begin());
    if (!raw.empty()) return Command(node, std::move(raw));
    state_.status = 0;
    return ShellFlow::kNext;
  }
  const std::string name = first.fields[0].text;
  raw.erase(raw.begin());
  for (std::size_t i = first.fields.size(); i-- > 0;) raw.insert(raw.begin(), first.fields[i].quoted);

  if (state_.functions.contains(name)) {
    const auto arguments = Texts(raw, 1);
    if (const std::string output = Redirected(node); !output.empty() && output_ == nullptr)
      LeaveOut("redirections", "chose files for output");
    if (arguments) return RunFunction(name, *arguments);
    // The function may use other values alone.
    const std::string why = why_;
    const bool outer = std::exchange(state_.arguments_known, false);
    const auto kept = std::exchange(state_.arguments, {});
    ++functions_;
    locals_.emplace_back();
    if (functions_ > 32 || !state_.functions[name].body) Refuse("functions call each other too deeply");
    const ShellFlow flow = Execute(state_.functions[name].body);
    locals_.pop_back();
    --functions_;
    state_.arguments = kept;
    state_.arguments_known = outer;
    return flow == ShellFlow::kExit ? flow : ShellFlow::kNext;
  }
  ShellFlow flow = ShellFlow::kNext;
  if (Builtin(name, node, raw, flow)) return flow;
  const std::string program(FileName(name));
  if (program == "nohup" || program == "time" || program == "exec" || program == "env" || program == "taskset" ||
      program == "builtin") {
    auto rest = AfterWrappers(raw);
    if (!rest.empty()) {
      const bool ends = program == "exec";
      const ShellFlow after = Command(node, std::move(rest));
      return ends && after == ShellFlow::kNext ? ShellFlow::kExit : after;
    }
    if (program != "env") {
      LeaveOut(Shown(raw), "had no program");
      return ShellFlow::kNext;
    }
  }
  if ((program == "bash" || program == "sh" || name.ends_with(".sh")) && substituted_ == 0) {
    std::size_t at = program == "bash" || program == "sh" ? 1 : 0;
    bool text = false;
    while (at >= 1 && at < raw.size() && raw[at].starts_with('-') && raw[at].size() > 1)
      text = raw[at++].ends_with('c') || text;
    if (at < raw.size()) {
      auto words = KnownTexts(raw, at);
      const auto read = text || words.empty() ? tl::expected<std::string, std::string>(words.empty() ? "" : words[0])
                                              : world_.read(InFolder(words[0]));
      if (read) {
        if (!Redirected(node).empty()) LeaveOut("redirections", "chose files for output");
        for (const auto& [variable, value] : prefix_) Assign(variable + "=" + ShellQuoted(value), true, false);
        const std::string path = words.empty() ? file_ : words[0];
        if (!words.empty()) words.erase(words.begin());
        return RunScript(text ? file_ : path, *read, std::move(words));
      }
    }
  }
  if (FileCommand(program, node, raw)) return ShellFlow::kNext;
  if (Harmless(program, node, raw)) return ShellFlow::kNext;
  Launch(node, raw);
  return ShellFlow::kNext;
}

// Programs that start the one after them, and leave no trace in its words.
std::vector<std::string> ShellMachine::AfterWrappers(std::vector<std::string> raw) {
  std::size_t at = 1;
  const std::string program(FileName(raw[0]));
  if (program == "nohup")
    LeaveOut("nohup", "kept processes alive after the terminal was closed; `muster run --detach` does");
  if (program == "taskset") {
    // A list that does not follow from the script is an equal share of the cores of the machine, as a rule.
    const bool list = at < raw.size() && (raw[at] == "-c" || raw[at] == "--cpu-list");
    const auto words = Texts(raw, 1);
    const ShellExpanded cores = list && raw.size() > 2 ? ExpandedOne(raw[2]) : ShellExpanded{};
    at = list ? 3 : 2;
    cores_ = list && cores.known && !cores.fields.empty() ? cores.fields[0].text : "auto";
    LeaveOut("taskset", "bound processes to cores; `cores = \"auto\"` gives each process an equal share");
  } else if (program == "env") {
    for (; at < raw.size(); ++at) {
      if (raw[at] == "-u" && at + 1 < raw.size()) {
        state_.variables[raw[++at]] = ShellVariable::Unset(true);
      } else if (AssignedName(raw[at]) > 0) {
        const ShellExpanded value = ExpandedOne(raw[at].substr(raw[at].find('=') + 1));
        if (!value.known) RefuseUnknown(raw[at], value.why);
        prefix_[raw[at].substr(0, AssignedName(raw[at]))] = value.fields[0].text;
      } else if (raw[at].starts_with('-')) {
        Refuse("`" + Shown(raw) + "`: the option " + Quoted(raw[at]) + " is not understood");
      } else {
        break;
      }
    }
  } else {
    while (at < raw.size() && raw[at].starts_with('-')) ++at;
  }
  raw.erase(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(std::min(at, raw.size())));
  return raw;
}

bool ShellMachine::FileCommand(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw) {
  const bool edits = name == "sed" && std::any_of(raw.begin(), raw.end(), [](const std::string& word) {
                       return word.starts_with("-i") || word == "--in-place";
                     });
  if (!edits && !FilePrograms().contains(name)) return false;
  return AddStep(node, raw, {});
}

bool ShellMachine::Harmless(const std::string& name, const NodePtr& node, const std::vector<std::string>& raw) {
  if (!Printers().contains(name)) return false;
  const std::string output = Redirected(node);
  const bool to_file = !output.empty() && output != "/dev/null" && output != "&2";
  const bool kills =
      name == "xargs" && std::any_of(raw.begin(), raw.end(), [](const std::string& word) { return word == "kill"; });
  if (name == "xargs" && !kills) Refuse("what `" + Shown(raw) + "` runs does not follow from the script");
  if (kills && running_) Refuse("`" + Shown(raw) + "` ends processes while the job runs");
  if (to_file && name != "env" && name != "printenv" && name != "ps" && name != "date" && name != "nvidia-smi" &&
      !piped_)
    return AddStep(node, raw, output);
  if (to_file && piped_)
    Refuse("a file is written by a pipeline", "do it before the start, and leave it out of the script");
  if (name == "tee" && piped_ && raw.size() > 1) {
    LeaveOut(Shown(raw),
             "wrote the output of processes to a file as well; every process has its own log (`muster logs`)");
  } else if (output_ == nullptr) {
    LeaveOut(Shown(raw), kills             ? "ended processes before the start; `muster ps` lists those of muster"
                         : name == "sleep" ? "waited; roles start when those in `after` are ready"
                         : to_file         ? "wrote a file about the environment; `muster plan --env` shows it"
                                           : "printed to the terminal");
  }
  if (output.empty()) Print(std::nullopt);
  state_.status = name == "sleep" || name == "tee" || name == "cat" || name == "env" || name == "date" || name == "ls"
                      ? std::optional(0)
                      : std::nullopt;
  return true;
}

void ShellMachine::Launch(const NodePtr& node, const std::vector<std::string>& raw) {
  ScriptLaunch launch;
  launch.line = substituted_ != 0 ? substituted_ : line_;
  launch.phase = phase_;
  launch.steps = outcome_.steps.size();
  launch.cores = cores_;
  const auto trouble = [&launch](const std::string& what, const std::string& hint) {
    if (!launch.trouble.empty()) return;
    launch.trouble = what;
    launch.hint = hint;
  };
  constexpr const char* kGive =
      "give the script's arguments (muster init --from shell -- bash FILE ARGUMENT…), or write the value into it";
  for (const std::string& word : raw) {
    const ShellExpanded expanded = Expanded(word);
    if (!expanded.known)
      trouble("the value of " + Quoted(word) + " does not follow from the script" +
                  (expanded.why.empty() ? "" : ": " + expanded.why),
              kGive);
    for (const ShellField& field : expanded.fields) {
      if (field.pattern) trouble("which files " + Quoted(word) + " matches does not follow from the script", kGive);
      launch.words.push_back(field.text);
    }
    if (!expanded.known) launch.words.push_back(word);
  }
  const std::string output = Redirected(node);
  if (substituted_ != 0 || (piped_ && output_ != nullptr)) {
    LeaveOut(Shown(raw), "ran before the processes, and its output was used");
    Print(std::nullopt);
    state_.status = std::nullopt;
    return;
  }
  if (piped_)
    trouble("`" + Shown(raw) + "` reads what another program prints", "write the role by hand: muster docs recipes");
  for (const ShellRedirection& one : node->redirections) {
    const bool from_file = one.op == "<" && one.target != "/dev/null";
    if (from_file || one.op == "<<" || one.op == "<<<" || one.op == "<>" || (one.op == "<&"))
      trouble("`" + Shown(raw) + "` reads its input from " + (from_file ? Quoted(one.target) : "the script"),
              "write the role by hand, with a command that opens the file: muster docs recipes");
  }
  if (!node->redirections.empty())
    LeaveOut("redirections", "chose files for output; every process has its own log (`muster logs`)");
  if (!state_.folder)
    trouble("in which folder `" + Shown(raw) + "` runs does not follow from the script",
            "write the folder into the script");
  launch.folder = state_.folder.value_or("");
  for (const auto& [name, variable] : state_.variables) {
    if (!variable.exported || variable.array || name == "OLDPWD") continue;
    if (!variable.set) {
      launch.unset.push_back(name);
    } else if (variable.known) {
      launch.env[name] = variable.text;
    } else if (!prefix_.contains(name)) {
      trouble(name + " has a value that does not follow from the script: " + variable.why, kGive);
    }
  }
  for (const auto& [name, value] : prefix_) launch.env[name] = value;
  if (prefix_trouble_) trouble(*prefix_trouble_, kGive);
  if (outcome_.launches.size() >= kMaxLaunches) Refuse(fmt::format("more than {} processes", kMaxLaunches));
  for (const auto& [name, value] : launch.env) Spend(name.size() + value.size() + 64);
  outcome_.launches.push_back(std::move(launch));
  state_.status = 0;
}

}  // namespace muster
