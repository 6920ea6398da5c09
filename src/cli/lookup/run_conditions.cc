#include "cli/lookup/run_conditions.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/lookup/line_search.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr const char* kExample = R"(for example --where 'outcome == failed and lr > 0.1')";

struct Token {
  enum class Kind : std::uint8_t { kWord, kQuoted, kOperator };
  Kind kind = Kind::kWord;
  std::string text;
};

constexpr std::pair<std::string_view, RunCondition::Op> kOperators[] = {
    {"==", RunCondition::Op::kEqual},   {"!=", RunCondition::Op::kUnequal}, {"<=", RunCondition::Op::kAtMost},
    {">=", RunCondition::Op::kAtLeast}, {"=", RunCondition::Op::kEqual},    {"<", RunCondition::Op::kLess},
    {">", RunCondition::Op::kMore},     {"~", RunCondition::Op::kMatches}};

Result<std::vector<Token>> Tokens(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    const char first = text.front();
    if (first == ' ' || first == '\t' || first == '\n') {
      text.remove_prefix(1);
      continue;
    }
    if (first == '"' || first == '\'') {
      const std::size_t end = text.find(first, 1);
      if (end == std::string_view::npos) {
        return Fail(
            Error("where", {}, fmt::format("--where: the {} is not closed: {}", first, Quoted(text)), kExample));
      }
      tokens.push_back({Token::Kind::kQuoted, std::string(text.substr(1, end - 1))});
      text.remove_prefix(end + 1);
      continue;
    }
    std::string_view found;
    for (const auto& [word, op] : kOperators) {
      if (found.empty() && text.starts_with(word)) found = word;
    }
    Token::Kind kind = Token::Kind::kOperator;
    if (found.empty()) {
      kind = Token::Kind::kWord;
      found = text.substr(0, text.find_first_of(" \t\n\"'=!<>~"));
      if (found.empty()) found = text.substr(0, 1);
    }
    tokens.push_back({kind, std::string(found)});
    text.remove_prefix(found.size());
  }
  return tokens;
}

// The value of a word in a condition.
Value ValueOf(const Token& token) {
  if (token.kind == Token::Kind::kQuoted) return Value(token.text);
  if (token.text == "true" || token.text == "false") return Value(token.text == "true");
  if (const auto number = ValueFromJsonText(token.text); number && number->IsNumber()) return *number;
  return Value(token.text);
}

std::string TextOf(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

// -1, 0 or 1; nothing if the two cannot be compared.
std::optional<int> Compare(const Value& a, const Value& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.IsNumber() && b.IsNumber()) return order(a.Number(), b.Number());
  if (a.AsString() != nullptr && b.AsString() != nullptr) return order(*a.AsString(), *b.AsString());
  if (a.AsBool() != nullptr && b.AsBool() != nullptr) return order(*a.AsBool(), *b.AsBool());
  if (a.IsNumber() && b.AsString() != nullptr) {
    if (const auto seconds = ParseDuration(*b.AsString())) return order(a.Number(), *seconds);
    if (const auto bytes = ParseBytes(*b.AsString())) return order(a.Number(), static_cast<double>(*bytes));
  }
  // The value of a tag is text, even if it looks like a number.
  if (a.AsString() != nullptr && b.IsNumber()) {
    if (const auto number = ValueFromJsonText(*a.AsString()); number && number->IsNumber()) {
      return order(number->Number(), b.Number());
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<RunCondition>> ParseConditions(std::string_view text) {
  const auto tokens = Tokens(text);
  if (!tokens) return Fail(tokens.error());
  const auto fail = [&](const std::string& why) {
    return Fail(Error("where", {}, fmt::format("--where {}: {}", Quoted(text), why), kExample));
  };
  std::vector<RunCondition> conditions;
  for (std::size_t i = 0; i < tokens->size();) {
    if ((*tokens)[i].kind != Token::Kind::kWord) {
      return fail(fmt::format("expected a name, got {}", Quoted((*tokens)[i].text)));
    }
    RunCondition condition;
    condition.name = (*tokens)[i++].text;
    if (i < tokens->size() && (*tokens)[i].kind == Token::Kind::kOperator) {
      const std::string& word = (*tokens)[i++].text;
      for (const auto& [known, op] : kOperators) {
        if (known == word) condition.op = op;
      }
      if (i == tokens->size() || (*tokens)[i].kind == Token::Kind::kOperator) {
        return fail(fmt::format("expected a value after {} {}", condition.name, word));
      }
      condition.value = ValueOf((*tokens)[i++]);
      if (condition.name == "took" && condition.value.IsNumber() && condition.value.Number() != 0) {
        return Fail(Error("where", {},
                          fmt::format("--where {}: took is a time, got {}", Quoted(text), ToText(condition.value)),
                          DurationHint(ToText(condition.value), kExample)));
      }
      if (condition.op == RunCondition::Op::kMatches) {
        auto search = LineSearch(TextOf(condition.value));
        if (!search) return fail(search.error().front().message);
        condition.matches = *std::move(search);
      }
    }
    conditions.push_back(std::move(condition));
    if (i == tokens->size()) return conditions;
    if ((*tokens)[i].text == "or" || (*tokens)[i].text == "not") {
      return fail(fmt::format("there is no {}: conditions all have to hold", Quoted((*tokens)[i].text)));
    }
    if ((*tokens)[i].kind != Token::Kind::kWord || (*tokens)[i].text != "and") {
      return fail(fmt::format("expected \"and\", got {}", Quoted((*tokens)[i].text)));
    }
    ++i;
  }
  return fail("expected a condition");
}

bool Holds(const RunCondition& condition, const RunValue& value_of) {
  using Op = RunCondition::Op;
  const Value value = value_of(condition.name);
  if (const Value::List* list = value.AsList()) {
    const auto of_one = [&](const Value& one) { return Holds(condition, [&](const std::string&) { return one; }); };
    return condition.op == Op::kUnequal ? std::all_of(list->begin(), list->end(), of_one)
                                        : std::any_of(list->begin(), list->end(), of_one);
  }
  if (condition.op == Op::kSet) {
    if (const bool* truth = value.AsBool()) return *truth;
    return !value.IsNull() && !(value.AsString() != nullptr && value.AsString()->empty());
  }
  if (condition.op == Op::kMatches) {
    return !value.IsNull() && condition.matches(TextOf(value));
  }
  const std::optional<int> order = Compare(value, condition.value);
  if (!order) return condition.op == Op::kUnequal;
  switch (condition.op) {
    case Op::kEqual:
      return *order == 0;
    case Op::kUnequal:
      return *order != 0;
    case Op::kLess:
      return *order < 0;
    case Op::kAtMost:
      return *order <= 0;
    case Op::kMore:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

bool CanBeAsked(const RunCondition& condition, const Value& value) {
  using Op = RunCondition::Op;
  if (const Value::List* list = value.AsList()) {
    return list->empty() ||
           std::any_of(list->begin(), list->end(), [&](const Value& one) { return CanBeAsked(condition, one); });
  }
  if (condition.op == Op::kSet || condition.op == Op::kMatches || Compare(value, condition.value)) return true;
  return value.AsString() != nullptr && (condition.op == Op::kEqual || condition.op == Op::kUnequal);
}

bool ComesBefore(const Value& a, const Value& b) {
  if (a.IsNull() || b.IsNull()) return !a.IsNull() && b.IsNull();
  if (a.IsNumber() != b.IsNumber()) return a.IsNumber();
  if (a.IsNumber()) return a.Number() < b.Number();
  return TextOf(a) < TextOf(b);
}

}  // namespace muster
