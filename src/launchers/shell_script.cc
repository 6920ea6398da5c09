#include "launchers/shell_script.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "launchers/launcher_name.h"
#include "launchers/shell_words.h"

namespace muster {
namespace {

constexpr std::size_t kMostLaunches = 4096;
constexpr std::size_t kMostSteps = 200'000;
constexpr int kDeepest = 32;

bool IsName(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// Commands between the launches of a script that start no process of the job.
bool StartsNothing(std::string_view program) {
  static const std::set<std::string_view> known = {
      "cd",     "mkdir", "cp",     "rm",    "mv",    "ln",   "echo", "printf", "env",   "cat",   "ulimit",
      "wait",   "sleep", "set",    "exit",  "touch", "[",    "[[",   "test",   "true",  "false", ":",
      "source", ".",     "return", "local", "unzip", "wget", "tar",  "module", "conda", "ls"};
  return known.contains(program);
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Splits the text at blanks.
void AddParts(const std::string& text, std::vector<std::string>& parts) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

class Follower {
 public:
  Follower(std::string_view text, std::string file, const std::vector<std::string>& arguments)
      : commands_(ShellCommandsOf(text)), file_(std::move(file)), arguments_(arguments) {}

  Result<ScriptLaunches> Follow() {
    if (auto followed = Commands(0, commands_.size()); !followed) return Fail(followed.error());
    return std::move(found_);
  }

 private:
  tl::unexpected<Diagnostics> Wrong(const ShellCommand& at, const std::string& what, const std::string& hint) const {
    return Fail(Error("usage", Place{file_, at.line}, what, hint));
  }

  std::optional<std::string> ValueOf(std::string_view name) const {
    if (name == "#") return std::to_string(arguments_.size());
    if (name == "PWD") return ".";
    if (name == "@" || name == "*") return Joined(arguments_);
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0) {
      const std::size_t number = static_cast<std::size_t>(std::stoul(std::string(name.substr(0, 4))));
      if (number == 0) return file_;
      return number <= arguments_.size() ? std::optional(arguments_[number - 1]) : std::nullopt;
    }
    const auto found = variables_.find(std::string(name));
    return found == variables_.end() ? std::nullopt : found->second;
  }

  std::optional<std::string> Expanded(std::string_view word) const {
    return ExpandedWord(word, [this](std::string_view name) { return ValueOf(name); });
  }

  // The index after the end of the block that begins at `at` with `for`, `while`, `if`, `case` or `{`.
  std::size_t BlockEnd(std::size_t at, std::size_t end) const {
    int depth = 0;
    for (; at < end; ++at) {
      const std::string& word = commands_[at].words.front();
      if (word == "for" || word == "while" || word == "until" || word == "if" || word == "case" || word == "{") ++depth;
      if ((word == "done" || word == "fi" || word == "esac" || word == "}") && --depth == 0) return at + 1;
    }
    return end;
  }

  Result<void> Commands(std::size_t at, std::size_t end) {
    while (at < end) {
      const ShellCommand& command = commands_[at];
      if (++steps_ > kMostSteps) return Wrong(command, "the script is too long", {});
      const std::string& word = command.words.front();
      if (word == "for") {
        const std::size_t after = BlockEnd(at, end);
        if (auto looped = Loop(at, after); !looped) return looped;
        at = after;
      } else if (word == "if" || word == "while" || word == "until" || word == "case") {
        const std::size_t after = BlockEnd(at, end);
        if (auto fine = Conditional(at, after); !fine) return fine;
        at = after;
      } else if (word.ends_with("()") || word == "function") {
        const std::string name = word == "function" && command.words.size() > 1 ? command.words[1] : word;
        const std::size_t after = BlockEnd(at + 1, end);
        functions_[name.substr(0, name.find('('))] = {at + 2, after - 1};
        at = after;
      } else {
        if (auto done = Simple(command); !done) return done;
        ++at;
      }
    }
    return {};
  }

  // Conditional commands are skipped, and must not start anything.
  Result<void> Conditional(std::size_t at, std::size_t end) {
    for (std::size_t i = at; i < end; ++i) {
      if (commands_[i].background)
        return Wrong(commands_[i], "processes are started under a condition, which is not followed",
                     "pass only the relevant part of the script: muster init --from shell -- bash -c 'for …'");
    }
    return {};
  }

  Result<void> Loop(std::size_t at, std::size_t end) {
    const ShellCommand& head = commands_[at];
    std::size_t body = at + 1;
    while (body < end && commands_[body].words.front() != "do") ++body;
    std::vector<std::string> values;
    std::string name;
    if (head.words.size() > 1 && head.words[1].starts_with("((")) {
      if (!CountedValues(head.words[1], name, values)) {
        return Wrong(head, "how often this loop runs does not follow from the script",
                     "give its arguments: muster init --from shell -- bash FILE ARGUMENT…");
      }
    } else if (head.words.size() > 2 && head.words[2] == "in") {
      name = head.words[1];
      for (std::size_t i = 3; i < head.words.size(); ++i) {
        if (!AddValues(head.words[i], values)) {
          return Wrong(head, "how often this loop runs does not follow from the script",
                       "give its arguments: muster init --from shell -- bash FILE ARGUMENT…");
        }
      }
    }
    for (const std::string& value : values) {
      variables_[name] = value;
      if (auto done = Commands(body + 1, end - 1); !done) return done;
    }
    return {};
  }

  // ((i=0; i<8; i++))
  bool CountedValues(std::string_view text, std::string& name, std::vector<std::string>& values) {
    text = text.substr(2, text.size() - 4);
    const std::size_t first = text.find(';');
    const std::size_t second = first == std::string_view::npos ? first : text.find(';', first + 1);
    if (second == std::string_view::npos) return false;
    const std::string_view start = text.substr(0, first), until = text.substr(first + 1, second - first - 1),
                           step = text.substr(second + 1);
    const std::size_t equals = start.find('=');
    const std::size_t less = until.find('<');
    if (equals == std::string_view::npos || less == std::string_view::npos || step.find("++") == std::string_view::npos)
      return false;
    for (const char c : start.substr(0, equals)) {
      if (c != ' ') name += c;
    }
    const VariableValue value = [this](std::string_view variable) { return ValueOf(variable); };
    const bool inclusive = until.substr(less + 1).starts_with('=');
    const auto from = ArithmeticValue(start.substr(equals + 1), value);
    const auto to = ArithmeticValue(until.substr(less + (inclusive ? 2 : 1)), value);
    if (!from || !to || *to - *from > static_cast<long>(kMostLaunches)) return false;
    for (long i = *from; inclusive ? i <= *to : i < *to; ++i) values.push_back(std::to_string(i));
    return true;
  }

  // A word of `for NAME in …`: numbers {0..7}, $(seq 0 7), or words separated by blanks.
  bool AddValues(const std::string& word, std::vector<std::string>& values) {
    const VariableValue value = [this](std::string_view variable) { return ValueOf(variable); };
    std::optional<long> from = 0, to;
    if (word.starts_with('{') && word.ends_with('}') && word.find("..") != std::string::npos) {
      const std::size_t dots = word.find("..");
      from = ArithmeticValue(word.substr(1, dots - 1), value);
      to = ArithmeticValue(word.substr(dots + 2, word.size() - dots - 3), value);
      if (!to) return false;
    } else if (word.starts_with("$(seq ") || word.starts_with("`seq ")) {
      const std::string_view range =
          std::string_view(word).substr(word.find("seq ") + 4, word.size() - word.find("seq ") - 5);
      const std::size_t blank = range.find(' ');
      from = blank == std::string_view::npos ? 1 : ArithmeticValue(range.substr(0, blank), value);
      to = ArithmeticValue(blank == std::string_view::npos ? range : range.substr(blank + 1), value);
      if (!to) return false;
    }
    if (to) {
      if (!from || *to - *from > static_cast<long>(kMostLaunches)) return false;
      for (long i = *from; i <= *to; ++i) values.push_back(std::to_string(i));
      return true;
    }
    const auto expanded = Expanded(word);
    if (!expanded) return false;
    AddParts(*expanded, values);
    return true;
  }

  // NAME=VALUE; false for any other word.
  bool Assign(const std::string& word, bool exported) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || !IsName(word.substr(0, equals))) return false;
    const std::string name = word.substr(0, equals);
    variables_[name] = Expanded(std::string_view(word).substr(equals + 1));
    if (exported) exported_.insert(name);
    return true;
  }

  Result<void> Simple(const ShellCommand& command) {
    const std::string& first = command.words.front();
    if (first == "export" || first == "declare" || first == "local" || first == "readonly") {
      for (std::size_t i = 1; i < command.words.size(); ++i) {
        if (!Assign(command.words[i], first == "export") && first == "export" && IsName(command.words[i]))
          exported_.insert(command.words[i]);
      }
      return {};
    }
    if (first == "unset") {
      for (std::size_t i = 1; i < command.words.size(); ++i) variables_.erase(command.words[i]);
      return {};
    }
    if (first == "shift") {
      arguments_.erase(arguments_.begin(), arguments_.begin() + std::min<std::ptrdiff_t>(
                                                                    1, static_cast<std::ptrdiff_t>(arguments_.size())));
      return {};
    }
    if (const auto name = Expanded(first); name && functions_.contains(*name)) {
      const auto [begin, end] = functions_[*name];
      if (depth_ == kDeepest) return Wrong(command, "functions call each other too deeply", {});
      ++depth_;
      auto done = Commands(begin, end);
      --depth_;
      return done;
    }
    std::size_t at = 0;
    while (at < command.words.size() && Assignable(command.words[at])) ++at;
    if (at == command.words.size()) {
      for (const std::string& word : command.words) Assign(word, false);
      return {};
    }
    return Launch(command, at);
  }

  static bool Assignable(const std::string& word) {
    return IsName(word.substr(0, word.find('='))) && word.find('=') != std::string::npos;
  }

  Result<void> Launch(const ShellCommand& command, std::size_t at) {
    ScriptLaunch launch;
    launch.background = command.background;
    launch.line = command.line;
    at = PassWrappers(command, at);
    if (at >= command.words.size() || StartsNothing(command.words[at])) return {};
    const std::string_view program = FileName(command.words[at]);
    // Only launches of ranks matter; other programs are preparations.
    if (!command.background && !program.starts_with("python") && program != "pytest") return {};
    for (; at < command.words.size(); ++at) {
      if (command.words[at] == "\"$@\"") {
        launch.words.insert(launch.words.end(), arguments_.begin(), arguments_.end());
        continue;
      }
      const auto word = Expanded(command.words[at]);
      if (!word && !command.background) return {};
      if (!word) {
        return Wrong(command, "the value of " + Quoted(command.words[at]) + " does not follow from the script",
                     "give the script's arguments (muster init --from shell -- bash FILE ARGUMENT…), or write the "
                     "value into it");
      }
      // Unquoted expansions are split, and vanish if they are empty.
      if (command.words[at].find_first_of("\"'\\") == std::string::npos &&
          command.words[at].find('$') != std::string::npos) {
        AddParts(*word, launch.words);
      } else {
        launch.words.push_back(*word);
      }
    }
    for (const std::string& name : exported_) {
      const auto value = variables_.find(name);
      if (value == variables_.end()) continue;
      if (value->second) {
        launch.env[name] = *value->second;
      } else {
        PassOver("export " + name);
      }
    }
    for (const std::string& word : command.words) {
      if (!Assignable(word)) break;
      const auto value = Expanded(std::string_view(word).substr(word.find('=') + 1));
      if (value) launch.env[word.substr(0, word.find('='))] = *value;
    }
    found_.launches.push_back(std::move(launch));
    if (found_.launches.size() > kMostLaunches)
      return Wrong(command, fmt::format("more than {} processes", kMostLaunches), {});
    return {};
  }

  void PassOver(const std::string& text) {
    if (std::find(found_.passed_over.begin(), found_.passed_over.end(), text) == found_.passed_over.end())
      found_.passed_over.push_back(text);
  }

  // nohup, taskset and numactl start the command that follows them.
  std::size_t PassWrappers(const ShellCommand& command, std::size_t at) {
    while (at < command.words.size()) {
      const std::string_view program = FileName(command.words[at]);
      if (program == "nohup" || program == "exec" || program == "time") {
        ++at;
        if (program == "nohup") PassOver("nohup");
      } else if (program == "taskset" || program == "numactl") {
        PassOver(std::string(program));
        ++at;
        static const std::set<std::string_view> with_value = {"-c", "-C", "-N", "-m", "-i"};
        while (at < command.words.size() && command.words[at].starts_with('-'))
          at += with_value.contains(command.words[at]) ? 2 : 1;
      } else {
        break;
      }
    }
    return at;
  }

  std::vector<ShellCommand> commands_;
  std::string file_;
  std::vector<std::string> arguments_;
  std::map<std::string, std::optional<std::string>> variables_;
  std::set<std::string> exported_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> functions_;
  std::size_t steps_ = 0;
  int depth_ = 0;  // of function calls
  ScriptLaunches found_;
};

}  // namespace

Result<ScriptLaunches> LaunchesOfScript(std::string_view text, const std::string& file,
                                        const std::vector<std::string>& arguments) {
  return Follower(text, file, arguments).Follow();
}

}  // namespace muster
