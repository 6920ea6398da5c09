#include "reference/context_stub.h"

#include <algorithm>
#include <map>
#include <set>

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

std::string ClassName(const std::string& function, const std::string& path = {}) {
  return "muster." + PascalCase(function) + (path.empty() ? "" : "." + path);
}

void AddOnce(std::vector<std::string>& words, const std::string& word) {
  if (!Contains(words, word)) words.push_back(word);
}

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
      return ClassName(history.function, history.path);
    case Kind::kTextMap:
      return "table<string, string>";
    case Kind::kListText:
      return "string[]";
    case Kind::kLayouts:
      return ClassName(history.function, history.path) + "[]";
    case Kind::kAxes:
      return "table";
    case Kind::kListMap:
      return "table<string, table>";
    case Kind::kAny:
      return "any";
  }
  return "any";
}

std::string Joined(std::vector<std::string> types) {
  if (Contains(types, "any") || types.empty()) return "any";
  if (Contains(types, "boolean")) std::erase_if(types, [](auto& type) { return type == "true" || type == "false"; });
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : "|") + type;
  return text;
}

// Adds the choices of a record, and the kinds that have no choices.
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

// The type over all releases: choices instead of their kind where every value is one.
std::string TypeOf(const AttributeHistory& history) {
  std::vector<std::string> types;
  for (const auto& [release, record] : history.records) {
    AddChoicesAndKinds(history, *record, types);
    for (const auto& [written, unused] : record->aliases) AddOnce(types, ToText(Value(written)));
    if (record->secret) AddOnce(types, "muster.Parameter");
  }
  return Joined(std::move(types));
}

std::string TypeOf(const Value& value) {
  if (value.AsBool() != nullptr) return "boolean";
  if (value.AsInt() != nullptr) return "integer";
  if (value.AsDouble() != nullptr) return "number";
  return value.AsString() != nullptr ? "string" : "any";
}

// The type that a getter returns in any release that has one; empty if none does.
std::string ReadTypeOf(const AttributeHistory& history) {
  std::vector<std::string> types;
  for (const auto& [release, record] : history.records) {
    if (record->reads == ReadBack::kNever || record->documented_only) continue;
    if (!record->read_values.empty()) {
      for (const auto& [unused, value] : record->read_values) AddOnce(types, TypeOf(value));
      continue;
    }
    switch (record->reads) {
      case ReadBack::kGigabytes:
        AddOnce(types, "number");
        break;
      case ReadBack::kByteProduct:
      case ReadBack::kText:
      case ReadBack::kJson:
        AddOnce(types, "string");
        break;
      case ReadBack::kDefault:
        AddOnce(types, TypeOf(record->default_value));
        break;
      case ReadBack::kAsStored:
      case ReadBack::kNever:
        AddChoicesAndKinds(history, *record, types);
        break;
    }
    // A default may be outside the choices: "" until it is set.
    if (record->reads != ReadBack::kGigabytes && !record->choices.empty() && record->default_value == Value("") &&
        !Contains(types, "string")) {
      AddOnce(types, "\"\"");
    }
  }
  return types.empty() ? "" : Joined(std::move(types));
}

// The documentation of a field: its summary, then its facts as a list.
std::string Comment(const AttributeHistory& history, const std::vector<Release>& all) {
  std::string text = "---" + history.latest().doc + "\n---\n";
  for (const Fact& fact : FactsOf(history, all).facts) {
    if (fact.lines.size() == 1) {
      text += "---- " + fact.label + ": " + fact.lines.front() + "\n";
      continue;
    }
    text += "---- " + fact.label + ":\n";
    for (const std::string& line : fact.lines) text += "---  - " + line + "\n";
  }
  return text;
}

// The class of the attributes directly below `path` (empty: those of the function itself).
std::string Class(const std::vector<AttributeHistory>& histories, const std::string& function, const std::string& path,
                  const std::string& doc, const std::vector<Release>& all) {
  std::string text = "---" + doc + "\n---@class " + ClassName(function, path) + "\n";
  std::set<std::string> done;
  for (const AttributeHistory& history : histories) {
    const std::size_t end = history.path.size() - history.name().size();
    if (history.path.substr(0, end > 0 ? end - 1 : 0) != path || !done.insert(history.path).second) continue;
    std::vector<std::string> types;
    for (const AttributeHistory& variant : histories) {
      if (variant.path == history.path) AddOnce(types, TypeOf(variant));
    }
    // Attributes that are read-only, or only documented but in no release, have no field.
    if (history.latest().tells_if_set.empty() && !history.latest().documented_only) {
      text += Comment(history, all);
      text += "---@field " + history.name() + (history.latest().required && types.size() == 1 ? " " : "? ") +
              Joined(types) + "\n";
    }
  }
  text += "\n";
  for (const AttributeHistory& history : histories) {
    const std::size_t dot = history.path.rfind('.');
    const std::string parent = dot == std::string::npos ? "" : history.path.substr(0, dot);
    if (parent == path && (history.latest().Is(Kind::kDict) || history.latest().Is(Kind::kLayouts)))
      text += Class(histories, function, history.path, history.latest().doc, all);
  }
  return text;
}

// Constants of all releases: a name alone, or a table of names.
struct Constants {
  std::map<std::string, Value> plain;
  std::map<std::string, std::map<std::string, Value>> tables;
};

Constants ConstantsOf(const std::vector<AttributeHistory>& histories) {
  Constants constants;
  for (const AttributeHistory& history : histories) {
    for (const auto& [release, record] : history.records) {
      for (const auto& [name, value] : record->constants) {
        const std::size_t dot = name.find('.');
        if (dot == std::string::npos) {
          constants.plain[name] = value;
        } else {
          constants.tables[name.substr(0, dot)][name.substr(dot + 1)] = value;
        }
      }
    }
  }
  return constants;
}

std::string Functions(const std::vector<AttributeHistory>& histories, const Outline::Entry& function) {
  const std::string base = function.name.substr(function.name.find('_') + 1);
  std::string text = "---" + function.doc + "\n---\n---More: `muster docs " + function.name + "`\n";
  text +=
      "---@param attributes " + ClassName(function.name) + "\nfunction context.set_" + base + "(attributes) end\n\n";
  text += "---The value in force, as the recipe's release reads it back.\n";
  for (const AttributeHistory& history : histories) {
    const std::string type = history.depth > 0 ? "" : ReadTypeOf(history);
    if (!type.empty()) text += "---@overload fun(attribute: \"" + history.path + "\"): " + type + "\n";
  }
  text += "---@param attribute string\n---@return any\nfunction context.get_" + base + "(attribute) end\n\n";
  if (base != "context") {
    text += "---Takes back what was set: the defaults of the release hold again.\nfunction context.reset_" + base +
            "() end\n\n";
  }
  return text;
}

}  // namespace

std::string ContextStub(const Schema& schema, const Outline& outline) {
  const std::vector<Release> all = DescribedReleases(schema);
  std::string text =
      "---@meta muster.context\n"
      "-- The context API of MindSpore for editors (docs/editors.md). Printed by `muster docs --stub` from the schema, "
      "and not\n"
      "-- edited by hand: every attribute of every release, each with what muster checks.\n\n"
      "local context = {}\n\n";
  std::string functions;
  for (const Outline::Entry& function : outline.functions) {
    const std::vector<AttributeHistory> histories = Histories(schema, function.name, all);
    text += Class(histories, function.name, "", function.doc, all);
    const Constants constants = ConstantsOf(histories);
    for (const auto& [name, value] : constants.plain) functions += "context." + name + " = " + ToText(value) + "\n";
    for (const auto& [table, names] : constants.tables) {
      functions += "context." + table + " = {\n";
      for (const auto& [name, value] : names) functions += "  " + name + " = " + ToText(value) + ",\n";
      functions += "}\n";
    }
    if (!constants.plain.empty() || !constants.tables.empty()) functions += "\n";
    functions += Functions(histories, function);
  }
  return text + functions + "return context\n";
}

}  // namespace muster
