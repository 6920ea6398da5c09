#include "launchers/shell_words.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace muster {
namespace {

bool IsNameByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of the text that begins with an opening quote or parenthesis at `at`: after its closing one.
std::size_t EndOfGroup(std::string_view text, std::size_t at) {
  const char open = text[at];
  if (open == '\'') return std::min(text.find('\'', at + 1), text.size() - 1) + 1;
  const char close = open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : open;
  std::size_t depth = 1;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == close) {
      if (--depth == 0) return at + 1;
    } else if (text[at] == open) {
      ++depth;
    } else if (close == ')' && (text[at] == '\'' || text[at] == '"')) {
      at = EndOfGroup(text, at) - 1;
    }
  }
  return text.size();
}

constexpr std::array<std::string_view, 6> kStandAlone = {"do", "then", "else", "{", "}", "fi"};

class Splitter {
 public:
  explicit Splitter(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> Split() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' || c == ';' || c == '|' || c == ')') {
        End(false);
        ++at_;
        if (c == '\n') ++line_;
      } else if (c == '&') {
        TakeAmpersand();
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '\\' && text_.substr(at_).starts_with("\\\n")) {
        at_ += 2;
        ++line_;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '(' && command_.words == std::vector<std::string>{"for"}) {
        const std::size_t end = EndOfGroup(text_, at_);
        command_.words.emplace_back(text_.substr(at_, end - at_));
        at_ = end;
      } else if (c == '(') {
        // `name()` of a function, or a subshell, whose commands are treated like others.
        if (text_.substr(at_).starts_with("()") && command_.words.size() == 1) {
          command_.words.front() += "()";
          ++at_;
        }
        ++at_;
        End(false);
      } else if (c == '<' || c == '>') {
        TakeRedirection();
      } else {
        TakeWord();
      }
    }
    End(false);
    return std::move(commands_);
  }

 private:
  void End(bool background) {
    if (!command_.words.empty()) {
      command_.background = background;
      commands_.push_back(std::move(command_));
    }
    command_ = {};
  }

  void TakeAmpersand() {
    if (text_.substr(at_).starts_with("&>")) {
      ++at_;
      TakeRedirection();
    } else if (text_.substr(at_).starts_with("&&")) {
      End(false);
      at_ += 2;
    } else {
      End(true);
      ++at_;
    }
  }

  void TakeRedirection() {
    while (at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '<' || text_[at_] == '&')) ++at_;
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    WordEnd();
  }

  // Moves to the end of the word that begins here.
  std::string_view WordEnd() {
    const std::size_t begin = at_;
    constexpr std::string_view kEnds = " \t\r\n;|&<>()#";
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') break;
        at_ += 2;
      } else if (c == '\'' || c == '"' || c == '`') {
        at_ = EndOfGroup(text_, at_);
      } else if (c == '$' && at_ + 1 < text_.size() &&
                 (text_[at_ + 1] == '(' || text_[at_ + 1] == '[' || text_[at_ + 1] == '{')) {
        at_ = EndOfGroup(text_, at_ + 1);
      } else if (c == '$' && at_ + 1 < text_.size() && text_[at_ + 1] == '#') {
        at_ += 2;
      } else if (c == '#' ? at_ == begin : kEnds.find(c) != std::string_view::npos) {
        break;
      } else {
        ++at_;
      }
    }
    at_ = std::min(at_, text_.size());
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
    return text_.substr(begin, at_ - begin);
  }

  void TakeWord() {
    if (command_.words.empty()) command_.line = line_;
    const std::string_view word = WordEnd();
    // A number before a redirection is its descriptor.
    const bool number =
        !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number && at_ < text_.size() && (text_[at_] == '>' || text_[at_] == '<')) return TakeRedirection();
    const bool first = command_.words.empty();
    command_.words.emplace_back(word);
    if (first && std::find(kStandAlone.begin(), kStandAlone.end(), word) != kStandAlone.end()) End(false);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  ShellCommand command_;
  std::vector<ShellCommand> commands_;
};

class Sum {
 public:
  Sum(std::string_view text, const VariableValue& value) : text_(text), value_(value) {}

  std::optional<long> Read() {
    const auto sum = Terms();
    Blanks();
    return at_ == text_.size() ? sum : std::nullopt;
  }

 private:
  void Blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char Next() {
    Blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::optional<long> Terms() {
    auto sum = Factors();
    while (sum && (Next() == '+' || Next() == '-')) {
      const bool plus = text_[at_++] == '+';
      const auto next = Factors();
      if (!next) return std::nullopt;
      sum = plus ? *sum + *next : *sum - *next;
    }
    return sum;
  }

  std::optional<long> Factors() {
    auto product = Operand();
    while (product && (Next() == '*' || Next() == '/' || Next() == '%')) {
      const char sign = text_[at_++];
      const auto next = Operand();
      if (!next || (sign != '*' && *next == 0)) return std::nullopt;
      product = sign == '*' ? *product * *next : sign == '/' ? *product / *next : *product % *next;
    }
    return product;
  }

  std::optional<long> Operand() {
    if (Next() == '(') {
      ++at_;
      const auto inner = Terms();
      if (Next() != ')') return std::nullopt;
      ++at_;
      return inner;
    }
    const std::size_t begin = at_;
    if (Next() == '$') {
      ++at_;
      if (at_ < text_.size() && text_[at_] == '{') at_ = EndOfGroup(text_, at_);
    }
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    const std::string_view operand = text_.substr(begin, at_ - begin);
    const auto first = operand.find_first_not_of(' ');
    if (first == std::string_view::npos) return std::nullopt;
    const bool name = std::isdigit(static_cast<unsigned char>(operand[first])) == 0 && operand[first] != '$';
    const auto text = name ? value_(operand.substr(first)) : ExpandedWord(operand.substr(first), value_);
    if (!text || text->empty() || text->size() > 9) return std::nullopt;
    if (!std::all_of(text->begin(), text->end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      return std::nullopt;
    return std::stol(*text);
  }

  std::string_view text_;
  const VariableValue& value_;
  std::size_t at_ = 0;
};

// The expansion of a $ at `at`; moves `at` after it.
std::optional<std::string> Expansion(std::string_view word, std::size_t& at, const VariableValue& value) {
  const char open = at < word.size() ? word[at] : '\0';
  if (open == '(' || open == '[' || open == '{') {
    const std::size_t end = EndOfGroup(word, at);
    std::string_view inside = word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
    at = end;
    if (open == '{') {
      const std::size_t otherwise = inside.find(":-");
      const auto set = value(inside.substr(0, otherwise));
      if (set || otherwise == std::string_view::npos) return set;
      return ExpandedWord(inside.substr(otherwise + 2), value);
    }
    if (open == '(' && (inside == "pwd" || inside == "realpath .")) return ".";
    if (open == '(' && (!inside.starts_with('(') || !inside.ends_with(')'))) return std::nullopt;
    if (open == '(') inside = inside.substr(1, inside.size() - 2);
    const auto sum = ArithmeticValue(inside, value);
    return sum ? std::optional(std::to_string(*sum)) : std::nullopt;
  }
  const std::size_t begin = at;
  if (open == '#' || open == '@' || open == '*' || std::isdigit(static_cast<unsigned char>(open)) != 0) {
    ++at;
  } else {
    while (at < word.size() && IsNameByte(word[at])) ++at;
  }
  if (at == begin) return "$";
  return value(word.substr(begin, at - begin));
}

}  // namespace

std::vector<ShellCommand> ShellCommandsOf(std::string_view text) { return Splitter(text).Split(); }

std::optional<std::string> ExpandedWord(std::string_view word, const VariableValue& value) {
  // Words may nest: the nesting depth is bounded by their length.
  constexpr std::size_t kLongest = 8192;
  if (word.size() > kLongest) return std::nullopt;
  std::string text;
  bool quoted = false;
  for (std::size_t at = 0; at < word.size();) {
    const char c = word[at];
    if (c == '"') {
      quoted = !quoted;
      ++at;
    } else if (c == '\'' && !quoted) {
      const std::size_t end = EndOfGroup(word, at);
      text += word.substr(at + 1, std::max<std::size_t>(end - at, 2) - 2);
      at = end;
    } else if (c == '\\' && at + 1 < word.size()) {
      text += word[at + 1];
      at += 2;
    } else if (c == '`') {
      return std::nullopt;
    } else if (c == '$') {
      ++at;
      const auto expanded = Expansion(word, at, value);
      if (!expanded) return std::nullopt;
      text += *expanded;
    } else {
      text += c;
      ++at;
    }
  }
  return text;
}

std::optional<long> ArithmeticValue(std::string_view text, const VariableValue& value) {
  constexpr std::size_t kLongest = 1024;
  return text.size() > kLongest ? std::nullopt : Sum(text, value).Read();
}

}  // namespace muster
