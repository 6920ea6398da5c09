#include "lsp/api_types.h"

#include <algorithm>

#include "base/values/value_json.h"

namespace muster {
namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at the separator outside of brackets and texts.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '{' || c == '<' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == '>' || c == ']') --depth;
    if (c == separator && depth == 0) {
      parts.push_back(Trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.push_back(Trimmed(text.substr(begin)));
  return parts;
}

// The "(…)" with which the text begins, without its parentheses, and the rest.
std::pair<std::string_view, std::string_view> InParentheses(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return {text.substr(1, i - 1), text.substr(i + 1)};
  }
  return {};
}

// "name?: type" -> name, type.
std::pair<std::string, std::string> NameAndType(std::string_view text) {
  const auto parts = Split(text, ':');
  std::string_view name = parts.front();
  if (name.ends_with('?')) name.remove_suffix(1);
  const std::size_t colon = text.find(':', parts.front().size());
  return {std::string(name), colon == std::string_view::npos ? "" : std::string(Trimmed(text.substr(colon + 1)))};
}

bool IsFunction(std::string_view type) { return type.starts_with("fun("); }

std::string FunctionType(const Value& record, std::string_view own) {
  std::string type = "fun(";
  for (const Value& parameter : ListField(record, "parameters")) {
    const std::string of = TextField(parameter, "type");
    if (of == own) continue;
    type += (type.size() > 4 ? ", " : "") + TextField(parameter, "name") + ": " + of;
  }
  const std::string returned = TextField(record, "returned");
  return type + ")" + (returned.empty() ? "" : ": " + returned);
}

// The same without a first parameter that is the object itself.
std::string MethodType(const std::string& type, std::string_view own) {
  if (!IsFunction(type)) return type;
  const ApiFunction function = FunctionOf(type);
  if (function.parameters.empty() || function.parameters.front().second != own) return type;
  std::string method = "fun(";
  for (std::size_t i = 1; i < function.parameters.size(); ++i) {
    method += (i > 1 ? ", " : "") + function.parameters[i].first + ": " + function.parameters[i].second;
  }
  return method + ")" + (function.returned.empty() ? "" : ": " + function.returned);
}

}  // namespace

ApiFunction FunctionOf(std::string_view type) {
  ApiFunction function;
  for (const std::string_view each : Split(type, '|')) {
    if (!IsFunction(each)) continue;
    const auto [inside, rest] = InParentheses(each.substr(3));
    for (const std::string_view parameter : Split(inside, ',')) {
      if (!parameter.empty()) function.parameters.push_back(NameAndType(parameter));
    }
    const std::string_view after = Trimmed(rest);
    if (after.starts_with(':')) function.returned = std::string(Trimmed(after.substr(1)));
    break;
  }
  return function;
}

ApiTypes ApiTypes::From(const Value& records) {
  ApiTypes types;
  for (const Value& record : ListField(records, "classes")) {
    const std::string name = TextField(record, "name");
    Class& made = types.classes_[name];
    for (const std::string_view base : Split(TextField(record, "bases"), ',')) {
      if (!base.empty()) made.bases.emplace_back(base);
    }
    for (const Value& field : ListField(record, "fields")) {
      ApiMember member{TextField(field, "name"), TextField(field, "type"), TextField(field, "doc"), false};
      if (member.name.starts_with('[')) continue;
      const std::string method = MethodType(member.type, name);
      member.is_method = method != member.type;
      member.type = method;
      made.members.push_back(std::move(member));
    }
  }
  for (const Value& record : ListField(records, "functions")) {
    const std::string name = TextField(record, "name");
    const std::size_t dot = name.find_first_of(".:");
    if (dot == std::string::npos) continue;
    const std::string of = name.substr(0, dot);
    const bool is_value = TruthField(record, "is_value");
    types.classes_[of].members.push_back(
        {name.substr(dot + 1), is_value ? "any" : FunctionType(record, of), TextField(record, "doc"), false});
  }
  for (const Value& record : ListField(records, "methods")) {
    const std::string of = TextField(record, "class");
    types.classes_[of].members.push_back(
        {TextField(record, "name"), FunctionType(record, of), TextField(record, "doc"), true});
  }
  for (const Value& record : ListField(records, "aliases")) {
    types.aliases_[TextField(record, "name")] = TextField(record, "type");
  }
  return types;
}

std::vector<std::string> ApiTypes::AlternativesOf(std::string_view type, int depth) const {
  constexpr int kMaxDepth = 8;
  std::vector<std::string> all;
  for (std::string_view each : Split(type, '|')) {
    if (each.starts_with('(') && each.ends_with(')')) each = each.substr(1, each.size() - 2);
    const auto alias = aliases_.find(each);
    if (depth < kMaxDepth && (alias != aliases_.end() || Split(each, '|').size() > 1)) {
      const auto inner = AlternativesOf(alias != aliases_.end() ? std::string_view(alias->second) : each, depth + 1);
      all.insert(all.end(), inner.begin(), inner.end());
    } else if (!each.empty()) {
      all.emplace_back(each);
    }
  }
  return all;
}

std::vector<ApiMember> ApiTypes::MembersOf(std::string_view type) const {
  std::vector<ApiMember> members;
  const auto add = [&](const ApiMember& member) {
    const auto same = [&](const ApiMember& other) { return other.name == member.name; };
    if (std::none_of(members.begin(), members.end(), same)) members.push_back(member);
  };
  for (const std::string& each : AlternativesOf(type)) {
    if (each.starts_with('{')) {
      for (const std::string_view field : Split(std::string_view(each).substr(1, each.size() - 2), ',')) {
        const auto [name, of] = NameAndType(field);
        if (!name.empty() && !name.starts_with('[')) add({name, of, "", false});
      }
      continue;
    }
    const auto found = classes_.find(each);
    if (found == classes_.end()) continue;
    for (const ApiMember& member : found->second.members) add(member);
    for (const std::string& base : found->second.bases) {
      if (base == each) continue;
      for (const ApiMember& member : MembersOf(base)) add(member);
    }
  }
  return members;
}

std::string ApiTypes::MemberType(std::string_view type, std::string_view name) const {
  for (const ApiMember& member : MembersOf(type)) {
    if (member.name == name) return member.type;
  }
  constexpr std::string_view kTable = "table<";
  for (const std::string& each : AlternativesOf(type)) {
    if (!each.starts_with(kTable)) continue;
    const auto parts = Split(std::string_view(each).substr(kTable.size(), each.size() - kTable.size() - 1), ',');
    if (parts.size() == 2) return std::string(parts[1]);
  }
  return {};
}

std::string ApiTypes::ElementType(std::string_view type) const {
  for (const std::string& each : AlternativesOf(type)) {
    if (each.ends_with("[]")) return each.substr(0, each.size() - 2);
  }
  return {};
}

std::vector<std::string> ApiTypes::WordsOf(std::string_view type) const {
  std::vector<std::string> words;
  for (const std::string& each : AlternativesOf(type)) {
    if (each.starts_with('"')) words.push_back(each);
    if (each == "boolean") words.insert(words.end(), {"true", "false"});
    if (each == "true" || each == "false") words.push_back(each);
    if (each.ends_with("[]")) {
      for (const std::string& word : WordsOf(each.substr(0, each.size() - 2))) {
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
      }
    }
  }
  return words;
}

}  // namespace muster
