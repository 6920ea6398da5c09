// Expands words of shell scripts: braces, parameters, command substitution, arithmetic, splitting.
#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "launchers/shell_machine.h"

namespace muster {
namespace {

constexpr std::size_t kMaxValue = 64 * 1024;
constexpr std::size_t kMaxFields = 8192;
constexpr int kMaxBraces = 4096;

bool IsNameByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// The index of the first of `wanted` outside of quotes and groups; npos without one.
std::size_t FindOutside(std::string_view text, std::string_view wanted, std::size_t at = 0) {
  int braces = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (braces == 0 && wanted.find(c) != std::string_view::npos) return at;
    if (c == '\\') {
      at += 2;
    } else if (c == '\'' || c == '"' || c == '`') {
      at = EndOfShellGroup(text, at);
    } else if (c == '$' && at + 1 < text.size() && (text[at + 1] == '(' || text[at + 1] == '{')) {
      at = EndOfShellGroup(text, at + 1);
    } else {
      if (c == '{') ++braces;
      if (c == '}' && braces > 0) --braces;
      ++at;
    }
  }
  return std::string_view::npos;
}

// {a..b}: the numbers or letters; nothing if it is no range.
std::optional<std::vector<std::string>> Range(std::string_view inside) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::string_view from = inside.substr(0, dots), to = inside.substr(dots + 2);
  const std::size_t more = to.find("..");
  std::int64_t step = 1;
  if (more != std::string_view::npos) {
    const auto given = ParseNumber<int>(to.substr(more + 2));
    if (!given) return std::nullopt;
    step = std::max(1, std::abs(*given));
    to = to.substr(0, more);
  }
  std::vector<std::string> values;
  if (from.size() == 1 && to.size() == 1 && std::isalpha(static_cast<unsigned char>(from[0])) != 0 &&
      std::isalpha(static_cast<unsigned char>(to[0])) != 0) {
    const int sign = from[0] <= to[0] ? 1 : -1;
    for (int c = from[0]; sign > 0 ? c <= to[0] : c >= to[0]; c += sign * static_cast<int>(step))
      values.emplace_back(1, static_cast<char>(c));
    return values;
  }
  const auto first = ParseNumber<int>(from), last = ParseNumber<int>(to);
  if (!first || !last) return std::nullopt;
  const bool padded = (from.size() > 1 && from[0] == '0') || (to.size() > 1 && to[0] == '0');
  const std::size_t width = padded ? std::max(from.size(), to.size()) : 0;
  const std::int64_t sign = *first <= *last ? 1 : -1;
  for (std::int64_t n = *first; sign > 0 ? n <= *last : n >= *last; n += sign * step) {
    if (values.size() == static_cast<std::size_t>(kMaxBraces)) return std::nullopt;
    values.push_back(fmt::format("{:0{}}", n, width));
  }
  return values;
}

// Words after brace expansion, which comes before all others.
bool ExpandBraces(const std::string& word, int level, std::vector<std::string>& words) {
  if (level > 16 || words.size() > static_cast<std::size_t>(kMaxBraces)) return false;
  for (std::size_t at = 0; at < word.size();) {
    const char c = word[at];
    if (c == '\\') {
      at += 2;
      continue;
    }
    if (c == '\'' || c == '"' || c == '`') {
      at = EndOfShellGroup(word, at);
      continue;
    }
    if (c == '$' && at + 1 < word.size() && (word[at + 1] == '(' || word[at + 1] == '{')) {
      at = EndOfShellGroup(word, at + 1);
      continue;
    }
    if (c != '{') {
      ++at;
      continue;
    }
    const std::size_t close = FindOutside(word, "}", at + 1);
    if (close == std::string::npos) break;
    const std::string before = word.substr(0, at), after = word.substr(close + 1);
    const std::string_view inside = std::string_view(word).substr(at + 1, close - at - 1);
    std::vector<std::string> values;
    if (FindOutside(inside, ",") != std::string_view::npos) {
      for (std::size_t begin = 0; begin <= inside.size();) {
        const std::size_t comma = std::min(FindOutside(inside, ",", begin), inside.size());
        values.emplace_back(inside.substr(begin, comma - begin));
        begin = comma + 1;
      }
    } else if (auto range = Range(inside)) {
      values = *std::move(range);
    } else {
      ++at;
      continue;
    }
    for (const std::string& value : values) {
      if (!ExpandBraces(before + value + after, level + 1, words)) return false;
    }
    return true;
  }
  words.push_back(word);
  return true;
}

std::string JoinedElements(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : " ") + words[i];
  return text;
}

}  // namespace

bool MatchesShellPattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resumed = 0;
  // The end of the element of the pattern at `p` if it matches the byte `c`; npos otherwise.
  const auto element = [pattern](std::size_t at, char c) {
    if (pattern[at] == '?') return at + 1;
    if (pattern[at] == '\\' && at + 1 < pattern.size()) return pattern[at + 1] == c ? at + 2 : std::string_view::npos;
    const std::size_t close = pattern[at] == '[' ? pattern.find(']', at + 2) : std::string_view::npos;
    if (close == std::string_view::npos) return pattern[at] == c ? at + 1 : std::string_view::npos;
    std::string_view set = pattern.substr(at + 1, close - at - 1);
    const bool negated = set.starts_with('!') || set.starts_with('^');
    if (negated) set.remove_prefix(1);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i + 2 < set.size() && set[i + 1] == '-') {
        found = found || (set[i] <= c && c <= set[i + 2]);
        i += 2;
      } else {
        found = found || set[i] == c;
      }
    }
    return found != negated ? close + 1 : std::string_view::npos;
  };
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = t;
      continue;
    }
    const std::size_t next = p < pattern.size() ? element(p, text[t]) : std::string_view::npos;
    if (next != std::string_view::npos) {
      p = next;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool ShellMachine::Unknown(const std::string& why) {
  if (why_.empty()) why_ = why;
  return false;
}

// Bounds what a script can make of its text by repetition.
void ShellMachine::Spend(std::size_t bytes) {
  constexpr std::size_t kMaxSpent = 64U << 20;
  spent_ += bytes;
  if (spent_ > kMaxSpent) Refuse("the script makes too much text");
}

bool ShellMachine::IsSet(const std::string& name) const {
  const auto found = state_.variables.find(name);
  if (found != state_.variables.end()) return found->second.set;
  return world_.variable && world_.variable(name).has_value();
}

std::optional<std::string> ShellMachine::ValueOf(const std::string& name) {
  const auto unknown = [this](const std::string& why) -> std::optional<std::string> {
    Unknown(why);
    return std::nullopt;
  };
  if (name == "#") return std::to_string(state_.arguments.size());
  if (name == "@" || name == "*") return JoinedElements(state_.arguments);
  if (name == "0") return file_;
  if (name == "?") {
    if (state_.status) return std::to_string(*state_.status);
    return unknown("$? is the exit code of a program");
  }
  if (name == "PWD") return state_.folder ? state_.folder : unknown("the folder does not follow from the script");
  if (name == "$" || name == "!" || name == "RANDOM" || name == "SECONDS" || name == "BASHPID" || name == "HOSTNAME" ||
      name == "-" || name == "_" || name == "PPID")
    return unknown("$" + name + " is different each time");
  if (IsDigits(name)) {
    if (!state_.arguments_known) return unknown("which arguments there are does not follow from the script");
    const auto number = ParseNumber<std::size_t>(name);
    return number && *number <= state_.arguments.size() ? state_.arguments[*number - 1] : std::string();
  }
  const auto found = state_.variables.find(name);
  if (found != state_.variables.end()) {
    if (!found->second.known) return unknown(name + ", " + found->second.why);
    if (found->second.array) return found->second.array->empty() ? std::string() : found->second.array->front();
    return found->second.text;
  }
  const auto inherited = world_.variable ? world_.variable(name) : std::nullopt;
  if (!inherited) return std::string();
  // Paths are values of this machine; others may be secrets, and would be written into the recipe.
  static constexpr std::string_view kPaths[] = {"HOME", "USER",       "LOGNAME",        "TMPDIR",
                                                "PATH", "PYTHONPATH", "LD_LIBRARY_PATH"};
  if (std::find(std::begin(kPaths), std::end(kPaths), name) != std::end(kPaths)) {
    LeaveOut("$" + name, "is the value of this shell, " + *inherited);
    return *inherited;
  }
  return unknown(name + " is a variable of this shell");
}

std::optional<std::vector<std::string>> ShellMachine::Elements(std::string_view name) {
  if (name == "@" || name == "*") {
    if (!state_.arguments_known) {
      Unknown("which arguments there are does not follow from the script");
      return std::nullopt;
    }
    return state_.arguments;
  }
  const auto found = state_.variables.find(std::string(name));
  if (found == state_.variables.end() || !found->second.set) return std::vector<std::string>{};
  if (!found->second.known) {
    Unknown(std::string(name) + ", " + found->second.why);
    return std::nullopt;
  }
  if (found->second.array) return found->second.array;
  return std::vector<std::string>{found->second.text};
}

ShellVariables ShellMachine::VariablesOfArithmetic() {
  return {[this](const std::string& name) { return ValueOf(name); },
          [this](const std::string& name, std::optional<std::int64_t> number) {
            ShellVariable value;
            value.known = number.has_value();
            if (number) value.text = std::to_string(*number);
            if (!number) value.why = fmt::format("set in line {}", line_);
            SetVariable(name, std::move(value));
          }};
}

std::optional<std::int64_t> ShellMachine::Arithmetic(const std::string& text) {
  std::vector<Piece> pieces;
  if (!Pieces(text, true, pieces)) return std::nullopt;
  std::string plain;
  for (const Piece& piece : pieces) plain += piece.text;
  std::erase(plain, '"');
  const auto number = ShellArithmetic(plain, VariablesOfArithmetic());
  if (!number) Unknown(fmt::format("`{}` does not follow from the script", Printable(text)));
  return number;
}

bool ShellMachine::AddOutput(const std::string& command, bool in_quotes, std::vector<Piece>& pieces) {
  constexpr int kMaxDepth = 200;
  if (depth_ >= kMaxDepth) Refuse("commands are nested too deeply");
  const NodePtr parsed = Parsed(command);
  Capture output;
  Capture* const outer = std::exchange(output_, &output);
  const std::uint32_t outer_line = std::exchange(substituted_, substituted_ != 0 ? substituted_ : line_);
  const std::string why = std::exchange(why_, {});
  ++depth_;
  RunSubshell(parsed);
  --depth_;
  output_ = outer;
  why_ = why;
  line_ = substituted_;
  substituted_ = outer_line;
  if (!output.known) return Unknown(fmt::format("what `{}` prints", Printable(command)));
  while (output.text.ends_with('\n')) output.text.pop_back();
  pieces.push_back({std::move(output.text), in_quotes, true, false});
  return true;
}

// After a $ at `at`, which is moved behind the expansion.
bool ShellMachine::Dollar(std::string_view word, std::size_t& at, bool in_quotes, std::vector<Piece>& pieces) {
  const char open = at < word.size() ? word[at] : '\0';
  if (open == '(' || open == '[' || open == '{') {
    const std::size_t end = EndOfShellGroup(word, at);
    const std::string_view inside = word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
    at = end;
    if (open == '{') return Braces(inside, in_quotes, pieces);
    const bool arithmetic = open == '[' || (inside.starts_with('(') && inside.ends_with(')'));
    if (!arithmetic) return AddOutput(std::string(inside), in_quotes, pieces);
    const auto number = Arithmetic(std::string(open == '[' ? inside : inside.substr(1, inside.size() - 2)));
    if (!number) return false;
    pieces.push_back({std::to_string(*number), in_quotes, true, false});
    return true;
  }
  if (open == '\'' && !in_quotes) {
    const std::size_t end = EndOfShellGroup(word, at);
    const std::string_view inside = word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
    at = end;
    if (inside.find('\\') != std::string_view::npos) return Unknown("$'…' with a backslash");
    pieces.push_back({std::string(inside), true, false, false});
    return true;
  }
  std::size_t end = at;
  if (open != '\0' && (std::string_view("#@*?$!-").find(open) != std::string_view::npos || IsDigit(open))) {
    ++end;
  } else {
    while (end < word.size() && IsNameByte(word[end])) ++end;
  }
  if (end == at) {
    pieces.push_back({"$", true, false, false});
    return true;
  }
  const std::string_view name = word.substr(at, end - at);
  at = end;
  return Parameter(name, in_quotes, pieces);
}

bool ShellMachine::Parameter(std::string_view name, bool in_quotes, std::vector<Piece>& pieces) {
  if (name == "@" || name == "*") {
    const auto elements = Elements(name);
    if (!elements) return false;
    if (in_quotes && name == "*") {
      pieces.push_back({JoinedElements(*elements), true, true, false});
      return true;
    }
    for (std::size_t i = 0; i < elements->size(); ++i)
      pieces.push_back({(*elements)[i], in_quotes, true, i + 1 < elements->size()});
    return true;
  }
  const auto value = ValueOf(std::string(name));
  if (!value) return false;
  pieces.push_back({*value, in_quotes, true, false});
  return true;
}

// ${ … }
bool ShellMachine::Braces(std::string_view inside, bool in_quotes, std::vector<Piece>& pieces) {
  const std::string whole(inside);
  const bool length = inside.size() > 1 && inside.front() == '#';
  if (length) inside.remove_prefix(1);
  if (inside.starts_with('!') && inside.ends_with("[@]")) {
    const auto elements = Elements(inside.substr(1, inside.size() - 4));
    if (!elements) return false;
    for (std::size_t i = 0; i < elements->size(); ++i)
      pieces.push_back({std::to_string(i), in_quotes, true, i + 1 < elements->size()});
    return true;
  }
  if (inside.starts_with('!')) return Unknown("${" + whole + "}");
  std::size_t end = 0;
  if (!inside.empty() && (std::string_view("@*?$!#").find(inside[0]) != std::string_view::npos)) {
    end = 1;
  } else {
    while (end < inside.size() && IsNameByte(inside[end])) ++end;
  }
  const std::string name(inside.substr(0, end));
  if (name.empty()) return Unknown("${" + whole + "}");
  std::string_view rest = inside.substr(end);
  if ((name == "@" || name == "*") && rest.starts_with(':')) {
    // ${@:2}: the arguments from the second on; that of 0 is $0.
    auto elements = Elements(name);
    const auto from = elements ? Arithmetic(std::string(rest.substr(1))) : std::nullopt;
    if (!from || *from < 1) return Unknown("${" + whole + "}");
    for (auto i = static_cast<std::size_t>(*from) - 1; i < elements->size(); ++i)
      pieces.push_back({(*elements)[i], in_quotes, true, i + 1 < elements->size()});
    return true;
  }
  std::optional<std::string> value;
  bool set = name == "@" || name == "*" ? !state_.arguments.empty()
             : IsDigits(name)           ? ParseNumber<std::size_t>(name).value_or(9999) <= state_.arguments.size()
                                        : IsSet(name);
  if (rest.starts_with('[')) {
    const std::size_t close = EndOfShellGroup(rest, 0);
    const std::string index(rest.substr(1, std::max<std::size_t>(close, 2) - 2));
    rest = rest.substr(close);
    const auto elements = Elements(name);
    if (!elements) return false;
    if (index == "@" || index == "*") {
      if (length) {
        pieces.push_back({std::to_string(elements->size()), in_quotes, true, false});
        return true;
      }
      if (!rest.empty()) return Unknown("${" + whole + "}");
      for (std::size_t i = 0; i < elements->size(); ++i) {
        const bool last = i + 1 == elements->size();
        pieces.push_back({(*elements)[i] + (index == "*" && in_quotes && !last ? " " : ""), in_quotes, true,
                          !last && !(index == "*" && in_quotes)});
      }
      return true;
    }
    auto number = Arithmetic(index);
    if (!number) return false;
    if (*number < 0) *number += static_cast<std::int64_t>(elements->size());
    set = *number >= 0 && static_cast<std::size_t>(*number) < elements->size();
    value = set ? (*elements)[static_cast<std::size_t>(*number)] : std::string();
  }
  if (rest.empty() && !length && !value) return Parameter(name, in_quotes, pieces);
  const bool colon =
      rest.size() > 1 && rest[0] == ':' && std::string_view("-=+?").find(rest[1]) != std::string_view::npos;
  const char op = rest.empty() ? '\0' : rest[colon ? 1 : 0];
  if (!value && !(op == '+' && !colon)) {
    value = ValueOf(name);
    if (!value) return false;
  }
  if (length) {
    pieces.push_back({std::to_string(value->size()), in_quotes, true, false});
    return true;
  }
  if (op == '-' || op == '=' || op == '+' || op == '?') {
    const std::string other(rest.substr(colon ? 2 : 1));
    const bool missing = !set || (colon && value && value->empty());
    if (op == '+' ? !missing : missing) {
      if (op == '?')
        Refuse(fmt::format("{} is not set, and the script ends here", name), "give the script's arguments");
      if (op == '=') Assign(name + "=" + other, false, false);
      return Pieces(other, in_quotes, pieces);
    }
    pieces.push_back({op == '+' ? std::string() : *value, in_quotes, true, false});
    return true;
  }
  constexpr std::size_t kMaxPattern = 4096;
  if (value->size() > kMaxPattern) return Unknown("${" + whole + "} of a long text");
  if (op == '#' || op == '%') {
    const bool longest = rest.size() > 1 && rest[1] == op;
    const auto pattern = PatternOf(std::string(rest.substr(longest ? 2 : 1)));
    if (!pattern) return false;
    std::optional<std::size_t> cut;
    for (std::size_t i = 0; i <= value->size() && (!cut || longest); ++i) {
      const std::string_view part =
          op == '#' ? std::string_view(*value).substr(0, i) : std::string_view(*value).substr(value->size() - i);
      if (MatchesShellPattern(part, *pattern)) cut = i;
    }
    if (cut) value = op == '#' ? value->substr(*cut) : value->substr(0, value->size() - *cut);
  } else if (op == '/') {
    const bool all = rest.size() > 1 && rest[1] == '/';
    rest = rest.substr(all ? 2 : 1);
    const std::size_t slash = std::min(FindOutside(rest, "/", 1), rest.size());
    const auto from = ExpandedOne(std::string(rest.substr(0, slash)));
    const auto to = ExpandedOne(std::string(slash < rest.size() ? rest.substr(slash + 1) : std::string_view()));
    if (!from.known || !to.known) return false;
    const std::string &pattern = from.fields[0].text, &with = to.fields[0].text;
    if (pattern.empty() || from.fields[0].pattern || pattern.front() == '#' || pattern.front() == '%')
      return Unknown("${" + whole + "}");
    for (std::size_t at = value->find(pattern); at != std::string::npos; at = value->find(pattern, at + with.size())) {
      value->replace(at, pattern.size(), with);
      if (!all || value->size() > kMaxValue) break;
    }
  } else if (op == ':') {
    const std::size_t second = FindOutside(rest, ":", 1);
    auto from = Arithmetic(std::string(rest.substr(1, std::min(second, rest.size()) - 1)));
    if (!from) return false;
    const auto size = static_cast<std::int64_t>(value->size());
    if (*from < 0) *from = *from + size < 0 ? size : *from + size;
    std::int64_t count = size;
    if (second != std::string_view::npos) {
      const auto given = Arithmetic(std::string(rest.substr(second + 1)));
      if (!given) return false;
      count = *given < 0 ? std::max<std::int64_t>(0, size - *from + *given) : *given;
    }
    value =
        *from >= size ? std::string() : value->substr(static_cast<std::size_t>(*from), static_cast<std::size_t>(count));
  } else if (op == '^' || op == ',') {
    const std::size_t count =
        rest.size() > 1 && rest[1] == op ? value->size() : std::min<std::size_t>(1, value->size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto c = static_cast<unsigned char>((*value)[i]);
      (*value)[i] = static_cast<char>(op == '^' ? std::toupper(c) : std::tolower(c));
    }
  } else if (!rest.empty()) {
    return Unknown("${" + whole + "}");
  }
  pieces.push_back({*value, in_quotes, true, false});
  return true;
}

// Appends the pieces of the word. `in_quotes`: the text is that of a double-quoted string or a here-document.
bool ShellMachine::Pieces(std::string_view word, bool in_quotes, std::vector<Piece>& pieces) {
  constexpr int kMaxDepth = 200;
  if (++words_ > kMaxDepth) Refuse("words are nested too deeply");
  bool known = true;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) pieces.push_back({std::exchange(literal, {}), in_quotes, false, false});
  };
  if (!in_quotes && word.starts_with('~') && (word.size() == 1 || word[1] == '/')) {
    const auto home = ValueOf("HOME");
    if (home && !home->empty()) {
      pieces.push_back({*home, true, false, false});
    } else {
      known = Unknown("~ is the home of the user");
    }
    word.remove_prefix(1);
  }
  for (std::size_t at = 0; known && at < word.size();) {
    const char c = word[at];
    if (c == '\\' && at + 1 < word.size()) {
      const char next = word[at + 1];
      if (in_quotes && std::string_view("$`\"\\\n").find(next) == std::string_view::npos) {
        literal += c;
      } else {
        flush();
        if (next != '\n') pieces.push_back({std::string(1, next), true, false, false});
        at += 2;
        continue;
      }
      ++at;
    } else if (c == '\'' && !in_quotes) {
      flush();
      const std::size_t end = EndOfShellGroup(word, at);
      pieces.push_back({std::string(word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2)), true, false, false});
      at = end;
    } else if (c == '"' && !in_quotes) {
      flush();
      const std::size_t end = EndOfShellGroup(word, at);
      const std::size_t before = pieces.size();
      const std::string_view inside = word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
      known = Pieces(inside, true, pieces);
      // "" is a field; "$@" without arguments is none.
      if (pieces.size() == before && inside != "$@") pieces.push_back({"", true, false, false});
      at = end;
    } else if (c == '`') {
      flush();
      const std::size_t end = EndOfShellGroup(word, at);
      std::string command;
      const std::string_view inside = word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
      for (std::size_t i = 0; i < inside.size(); ++i) {
        if (inside[i] == '\\' && i + 1 < inside.size() &&
            (inside[i + 1] == '`' || inside[i + 1] == '$' || inside[i + 1] == '\\' ||
             (in_quotes && inside[i + 1] == '"')))
          ++i;
        command += inside[i];
      }
      known = AddOutput(command, in_quotes, pieces);
      at = end;
    } else if (c == '$') {
      flush();
      ++at;
      known = Dollar(word, at, in_quotes, pieces);
    } else {
      literal += c;
      ++at;
    }
  }
  flush();
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.text.size();
  if (size > kMaxValue) Refuse("a word becomes too long");
  Spend(size);
  --words_;
  return known;
}

namespace {

// A field that grows by the text of pieces.
class FieldOfPieces {
 public:
  void Add(std::string_view text, bool quoted) {
    exists_ = true;
    field_.text += text;
    if (quoted) {
      plain_ += text;
      return;
    }
    for (const char c : text) {
      if (c == '*' || c == '?' || c == '[') {
        field_.pattern = true;
        FlushQuoted();
        field_.quoted += c;
      } else if (c == ']' && field_.pattern) {
        FlushQuoted();
        field_.quoted += c;
      } else {
        plain_ += c;
      }
    }
  }
  bool Exists() const { return exists_; }
  ShellField Take() {
    FlushQuoted();
    if (field_.quoted.empty()) field_.quoted = "''";
    exists_ = false;
    return std::exchange(field_, {});
  }

 private:
  void FlushQuoted() {
    if (!plain_.empty()) field_.quoted += ShellQuoted(std::exchange(plain_, {}));
  }
  ShellField field_;
  std::string plain_;  // not yet in `quoted`
  bool exists_ = false;
};

}  // namespace

ShellExpanded ShellMachine::Expanded(const std::string& word) {
  ShellExpanded expanded;
  std::vector<std::string> words;
  why_.clear();
  constexpr std::size_t kMaxWord = 16 * 1024;
  if (word.size() > kMaxWord) Refuse("a word is too long");
  if (!ExpandBraces(word, 0, words)) Refuse("braces of a word become too many words");
  for (const std::string& one : words) {
    std::vector<Piece> pieces;
    if (!Pieces(one, false, pieces)) {
      expanded.known = false;
      expanded.why = why_;
      return expanded;
    }
    FieldOfPieces field;
    const auto end_field = [&] {
      if (field.Exists()) expanded.fields.push_back(field.Take());
    };
    for (const Piece& piece : pieces) {
      if (piece.quoted || !piece.expanded) {
        if (piece.quoted || !piece.text.empty()) field.Add(piece.text, piece.quoted);
      } else {
        for (std::size_t begin = 0; begin < piece.text.size();) {
          std::size_t end = begin;
          while (end < piece.text.size() && !IsBlank(piece.text[end])) ++end;
          if (end > begin) field.Add(std::string_view(piece.text).substr(begin, end - begin), false);
          if (end < piece.text.size()) end_field();
          begin = end + 1;
        }
      }
      if (piece.ends_field) end_field();
    }
    end_field();
    if (expanded.fields.size() > kMaxFields) Refuse("a word becomes too many words");
  }
  return expanded;
}

ShellExpanded ShellMachine::ExpandedOne(const std::string& word) {
  ShellExpanded expanded;
  std::vector<Piece> pieces;
  why_.clear();
  if (!Pieces(word, false, pieces)) {
    expanded.known = false;
    expanded.why = why_;
    return expanded;
  }
  FieldOfPieces field;
  for (const Piece& piece : pieces) field.Add(piece.text + (piece.ends_field ? " " : ""), piece.quoted);
  expanded.fields.push_back(field.Take());
  return expanded;
}

std::optional<std::string> ShellMachine::PatternOf(const std::string& word) {
  std::vector<Piece> pieces;
  if (!Pieces(word, false, pieces)) return std::nullopt;
  std::string pattern;
  for (const Piece& piece : pieces) {
    for (const char c : piece.text) {
      if (piece.quoted && (c == '*' || c == '?' || c == '[' || c == '\\')) pattern += '\\';
      pattern += c;
    }
  }
  return pattern;
}

}  // namespace muster
