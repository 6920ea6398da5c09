#include "launchers/shell_arithmetic.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "base/values/parse_number.h"

namespace muster {
namespace {

constexpr int kMaxSumLevels = 64;
constexpr std::size_t kMaxSum = 4096;

struct Operator {
  std::string_view sign;
  int level;
};

// By precedence; longer signs first within the search.
constexpr std::array kOperators = {Operator{"||", 1},  Operator{"&&", 2}, Operator{"==", 6}, Operator{"!=", 6},
                                   Operator{"<<", 8},  Operator{">>", 8}, Operator{"<=", 7}, Operator{">=", 7},
                                   Operator{"**", 11}, Operator{"|", 3},  Operator{"^", 4},  Operator{"&", 5},
                                   Operator{"<", 7},   Operator{">", 7},  Operator{"+", 9},  Operator{"-", 9},
                                   Operator{"*", 10},  Operator{"/", 10}, Operator{"%", 10}};

using Int = std::int64_t;
using Bits = std::uint64_t;  // wraps around as the shell's numbers do

std::optional<Int> Applied(std::string_view sign, Int a, Int b) {
  const Bits x = static_cast<Bits>(a), y = static_cast<Bits>(b);
  if (sign == "+") return static_cast<Int>(x + y);
  if (sign == "-") return static_cast<Int>(x - y);
  if (sign == "*") return static_cast<Int>(x * y);
  if (sign == "/" || sign == "%") {
    if (b == 0 || (a == std::numeric_limits<Int>::min() && b == -1)) return std::nullopt;
    return sign == "/" ? a / b : a % b;
  }
  if (sign == "**") {
    if (b < 0 || b > 64) return std::nullopt;
    Bits power = 1;
    for (Int i = 0; i < b; ++i) power *= x;
    return static_cast<Int>(power);
  }
  if (sign == "<<" || sign == ">>") {
    if (b < 0 || b > 63) return std::nullopt;
    return sign == "<<" ? static_cast<Int>(x << b) : a >> b;
  }
  if (sign == "|") return static_cast<Int>(x | y);
  if (sign == "^") return static_cast<Int>(x ^ y);
  if (sign == "&") return static_cast<Int>(x & y);
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == ">") return a > b;
  if (sign == "<=") return a <= b;
  return a >= b;
}

class Sum {
 public:
  Sum(std::string_view text, const ShellVariables& variables, int level)
      : text_(text), variables_(variables), level_(level) {}

  std::optional<Int> Read() {
    if (text_.size() > kMaxSum || level_ > kMaxSumLevels) return std::nullopt;
    if (Next() == '\0') return 0;
    auto value = Comma();
    if (Next() != '\0') wrong_ = true;
    return wrong_ ? std::nullopt : value;
  }

 private:
  char Next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Ahead(std::string_view sign) {
    Next();
    return text_.substr(at_).starts_with(sign);
  }

  std::optional<Int> Comma() {
    auto value = Assignment();
    while (!wrong_ && Next() == ',') {
      ++at_;
      value = Assignment();
    }
    return value;
  }

  std::string Name() {
    Next();
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    if (end == at_ || std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return {};
    return std::string(text_.substr(at_, end - at_));
  }

  std::optional<Int> Assignment() {
    if (++level_ > kMaxSumLevels) return Wrong();
    const std::size_t begin = at_;
    const std::string name = Name();
    if (!name.empty()) {
      at_ += name.size();
      for (const std::string_view sign : {"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "="}) {
        if (!Ahead(sign) || (sign == "=" && Ahead("=="))) continue;
        at_ += sign.size();
        auto value = Assignment();
        if (sign != "=") {
          const auto former = ValueOf(name);
          value = value && former ? Applied(sign.substr(0, sign.size() - 1), *former, *value) : std::nullopt;
        }
        Assign(name, value);
        --level_;
        return value;
      }
      at_ = begin;
    }
    auto value = Choice();
    --level_;
    return value;
  }

  std::optional<Int> Choice() {
    const auto condition = Binary(1);
    if (Next() != '?') return condition;
    ++at_;
    const bool outer = std::exchange(skip_, skip_ || (condition && *condition == 0));
    const auto first = Assignment();
    skip_ = outer;
    if (Next() != ':') return Wrong();
    ++at_;
    skip_ = skip_ || (condition && *condition != 0);
    const auto second = Assignment();
    skip_ = outer;
    if (!condition) return std::nullopt;
    return *condition != 0 ? first : second;
  }

  const Operator* OperatorAhead() {
    Next();
    for (const Operator& one : kOperators) {
      if (text_.substr(at_).starts_with(one.sign)) return &one;
    }
    return nullptr;
  }

  std::optional<Int> Binary(int least) {
    auto left = Unary();
    while (!wrong_) {
      const Operator* const op = OperatorAhead();
      if (op == nullptr || op->level < least) return left;
      at_ += op->sign.size();
      const bool decided = left && ((op->sign == "&&" && *left == 0) || (op->sign == "||" && *left != 0));
      const bool outer = std::exchange(skip_, skip_ || decided);
      const auto right = Binary(op->sign == "**" ? op->level : op->level + 1);
      skip_ = outer;
      if (op->sign == "&&" || op->sign == "||") {
        if (decided) {
          left = op->sign == "||";
        } else {
          left = left && right ? std::optional<Int>(*right != 0) : std::nullopt;
        }
      } else {
        left = left && right ? Applied(op->sign, *left, *right) : std::nullopt;
      }
    }
    return left;
  }

  std::optional<Int> Unary() {
    if (++level_ > kMaxSumLevels) return Wrong();
    const auto value = Operand();
    --level_;
    return value;
  }

  std::optional<Int> Operand() {
    const char c = Next();
    if (Ahead("++") || Ahead("--")) {
      const bool up = Ahead("++");
      at_ += 2;
      const std::string name = Name();
      at_ += name.size();
      return name.empty() ? Wrong() : Stepped(name, up);
    }
    if (c == '-' || c == '+' || c == '!' || c == '~') {
      ++at_;
      const auto value = Unary();
      if (!value) return std::nullopt;
      if (c == '-') return static_cast<Int>(Bits{0} - static_cast<Bits>(*value));
      if (c == '!') return *value == 0;
      return c == '~' ? ~*value : *value;
    }
    if (c == '(') {
      ++at_;
      const auto inner = Comma();
      if (Next() != ')') return Wrong();
      ++at_;
      return inner;
    }
    const std::string name = Name();
    if (!name.empty()) {
      at_ += name.size();
      if (Ahead("[")) return Wrong();
      if (Ahead("++") || Ahead("--")) {
        const bool up = Ahead("++");
        at_ += 2;
        const auto former = ValueOf(name);
        Stepped(name, up);
        return former;
      }
      return ValueOf(name);
    }
    return Constant();
  }

  std::optional<Int> Stepped(const std::string& name, bool up) {
    auto value = ValueOf(name);
    if (value) value = Applied("+", *value, up ? 1 : -1);
    Assign(name, value);
    return value;
  }

  std::optional<Int> Constant() {
    std::size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '#'))
      ++end;
    const std::string_view digits = text_.substr(at_, end - at_);
    at_ = end;
    const std::size_t base = digits.find('#');
    std::optional<Int> number;
    if (base != std::string_view::npos) {
      const auto of = ParseNumber<int>(digits.substr(0, base));
      if (of && *of >= 2 && *of <= 36) number = ParseNumber<Int>(digits.substr(base + 1), *of);
    } else if (digits.starts_with("0x") || digits.starts_with("0X")) {
      number = ParseNumber<Int>(digits.substr(2), 16);
    } else {
      number = ParseNumber<Int>(digits, digits.starts_with('0') && digits.size() > 1 ? 8 : 10);
    }
    return number ? number : Wrong();
  }

  std::optional<Int> ValueOf(const std::string& name) {
    const auto text = variables_.value(name);
    if (!text) return std::nullopt;
    if (const auto number = ParseNumber<Int>(*text); number && !(text->size() > 1 && text->front() == '0'))
      return number;
    // A variable may hold an expression.
    return Sum(*text, variables_, level_ + 8).Read();
  }

  void Assign(const std::string& name, std::optional<Int> value) {
    if (!skip_) variables_.assign(name, value);
  }

  std::optional<Int> Wrong() {
    wrong_ = true;
    at_ = text_.size();
    return std::nullopt;
  }

  std::string_view text_;
  const ShellVariables& variables_;
  int level_;
  std::size_t at_ = 0;
  bool wrong_ = false;
  bool skip_ = false;  // in an operand that is not evaluated
};

}  // namespace

std::optional<std::int64_t> ShellArithmetic(std::string_view text, const ShellVariables& variables) {
  return Sum(text, variables, 0).Read();
}

std::optional<std::string> ExprValue(std::span<const std::string> words) {
  if (words.size() == 2 && words[0] == "length") return std::to_string(words[1].size());
  if (words.size() == 1) return words[0];
  // Words are whole operands and signs, so that they are joined with blanks; = compares, and | and & are not those of
  // $(( )).
  std::string text;
  for (const std::string& word : words) {
    const bool sign = word == "+" || word == "-" || word == "*" || word == "/" || word == "%" || word == "(" ||
                      word == ")" || word == "<" || word == ">" || word == "<=" || word == ">=" || word == "!=";
    if (word == "=" || word == "==") {
      text += "== ";
    } else if (sign) {
      text += word + " ";
    } else if (const auto number = ParseNumber<Int>(word)) {
      text += "(" + std::to_string(*number) + ") ";  // decimal, whatever it begins with
    } else {
      return std::nullopt;
    }
  }
  const ShellVariables none = {[](const std::string&) { return std::nullopt; }, [](const std::string&, auto) {}};
  const auto number = ShellArithmetic(text, none);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace muster
