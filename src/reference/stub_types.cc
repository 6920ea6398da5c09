#include "reference/stub_types.h"

#include <algorithm>
#include <set>
#include <utility>

#include "reference/attribute_facts.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

// "set_auto_parallel_context" -> "SetAutoParallelContext"
std::string PascalCase(const std::string& name) {
  std::string pascal;
  bool upper = true;
  for (const char c : name) {
    if (c == '_' || c == '.') {
      upper = true;
    } else {
      pascal += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return pascal;
}

}  // namespace

std::string StubClassName(const std::string& function, const std::string& path) {
  return "muster." + PascalCase(function) + (path.empty() ? "" : "." + path);
}

void AddOnce(std::vector<std::string>& words, const std::string& word) {
  if (!Contains(words, word)) words.push_back(word);
}

namespace {

std::string KindType(Kind kind, const AttributeHistory& history) {
  switch (kind) {
    case Kind::kBool:
      return "boolean";
    case Kind::kInt:
      return "integer";
    case Kind::kFloat:
      return "number";
    case Kind::kString:
    case Kind::kEnum:
    case Kind::kPath:
    case Kind::kWords:
      return "string";
    case Kind::kSize:
      return "string|number";
    case Kind::kListInt:
      return "integer[]";
    case Kind::kTuple:
      return "integer[][]";
    case Kind::kDict:
      return StubClassName(history.function, history.path);
    case Kind::kTextMap:
      return "table<string, string>";
    case Kind::kListText:
      return "string[]";
    case Kind::kLayouts:
      return StubClassName(history.function, history.path) + "[]";
    case Kind::kAxes:
      return "table";
    case Kind::kListMap:
      return "table<string, table>";
    case Kind::kAny:
      return "any";
  }
  return "any";
}

}  // namespace

std::string JoinedTypes(std::vector<std::string> types) {
  if (Contains(types, "any") || types.empty()) return "any";
  if (Contains(types, "boolean")) std::erase_if(types, [](auto& type) { return type == "true" || type == "false"; });
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : "|") + type;
  return text;
}

void AddChoicesAndKinds(const AttributeHistory& history, const Attribute& record, std::vector<std::string>& types) {
  std::vector<Kind> kinds = record.kinds;
  for (const Value& choice : record.choices) {
    if (record.Is(Kind::kTextMap) || record.Is(Kind::kWords)) break;  // they are of its texts, or parts of them
    AddOnce(types, ToText(choice));
    std::erase_if(kinds, [&](Kind kind) {
      return choice.AsString() != nullptr ? kind == Kind::kEnum || kind == Kind::kString
             : choice.AsInt() != nullptr  ? kind == Kind::kInt
                                          : choice.AsBool() != nullptr && kind == Kind::kBool;
    });
  }
  for (const Kind kind : kinds) AddOnce(types, KindType(kind, history));
}

namespace {

// The type over all releases: choices instead of their kind where every value is one.
std::string TypeOf(const AttributeHistory& history) {
  std::vector<std::string> types;
  for (const auto& [release, record] : history.records) {
    AddChoicesAndKinds(history, *record, types);
    for (const auto& [written, unused] : record->aliases) AddOnce(types, ToText(Value(written)));
    if (record->secret) AddOnce(types, "muster.Parameter");
  }
  return JoinedTypes(std::move(types));
}

}  // namespace

std::string WrittenType(const std::vector<AttributeHistory>& histories, const std::string& path) {
  std::vector<std::string> types;
  for (const AttributeHistory& variant : histories) {
    if (variant.path == path) AddOnce(types, TypeOf(variant));
  }
  return JoinedTypes(std::move(types));
}

std::string StubComment(const std::string& doc, const std::vector<Fact>& facts) {
  std::string text = "---" + doc + "\n---\n";
  for (const Fact& fact : facts) {
    if (fact.lines.size() == 1) {
      text += "---- " + fact.label + ": " + fact.lines.front() + "\n";
      continue;
    }
    text += "---- " + fact.label + ":\n";
    for (const std::string& line : fact.lines) text += "---  - " + line + "\n";
  }
  return text;
}

std::string StubClass(const std::vector<AttributeHistory>& histories, const std::string& function,
                      const std::string& path, const std::string& doc, const std::vector<Release>& all) {
  std::string text = "---" + doc + "\n---@class " + StubClassName(function, path) + "\n";
  std::set<std::string> done;
  for (const AttributeHistory& history : histories) {
    const std::size_t end = history.path.size() - history.name().size();
    if (history.path.substr(0, end > 0 ? end - 1 : 0) != path || !done.insert(history.path).second) continue;
    // Attributes that are read-only, or only documented but in no release, have no field.
    if (history.latest().tells_if_set.empty() && !history.latest().documented_only) {
      text += StubComment(history.latest().doc, FactsOf(history, all).facts);
      const bool one_variant = std::count_if(histories.begin(), histories.end(), [&](const AttributeHistory& variant) {
                                 return variant.path == history.path;
                               }) == 1;
      text += "---@field " + history.name() + (history.latest().required && one_variant ? " " : "? ") +
              WrittenType(histories, history.path) + "\n";
    }
  }
  text += "\n";
  for (const AttributeHistory& history : histories) {
    const std::size_t dot = history.path.rfind('.');
    const std::string parent = dot == std::string::npos ? "" : history.path.substr(0, dot);
    if (parent == path && (history.latest().Is(Kind::kDict) || history.latest().Is(Kind::kLayouts)))
      text += StubClass(histories, function, history.path, history.latest().doc, all);
  }
  return text;
}

}  // namespace muster
