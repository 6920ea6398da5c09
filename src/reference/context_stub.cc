#include "reference/context_stub.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reference/attribute_facts.h"
#include "reference/page.h"
#include "settings/schema/schema_records.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// The types of attributes in definitions for editors (LuaLS annotations), and the classes of tables with such fields.

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

// "muster.SetContext" for set_context, "muster.SetContext.jit_config" for the sub-keys of its attribute jit_config.
std::string StubClassName(const std::string& function, const std::string& path = {}) {
  return "muster." + PascalCase(function) + (path.empty() ? "" : "." + path);
}

void AddOnce(std::vector<std::string>& words, const std::string& word) {
  if (!Contains(words, word)) words.push_back(word);
}

std::string KindType(Kind kind, const AttributeHistory& history) {
  if (kind == Kind::kDict) return StubClassName(history.function, history.path);
  if (kind == Kind::kLayouts) return StubClassName(history.function, history.path) + "[]";
  return std::string(NamesOf(kind).type);
}

// "any" for no types.
std::string JoinedTypes(std::vector<std::string> types) {
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
  return JoinedTypes(std::move(types));
}

// The type over all releases and variants of an attribute, as it is written.
std::string WrittenType(const std::vector<AttributeHistory>& histories, const std::string& path) {
  std::vector<std::string> types;
  for (const AttributeHistory& variant : histories) {
    if (variant.path == path) AddOnce(types, TypeOf(variant));
  }
  return JoinedTypes(std::move(types));
}

// The documentation of a field or function: its summary, then its facts as a list.
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

// The class of the attributes directly below `path` (empty: those of the function itself), and those of their sub-keys.
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

// The tables that lead to a function: "device_context", then "device_context.ascend", … Each is written once.
std::string Tables(const std::string& function, std::set<std::string>& written) {
  std::string text;
  for (std::size_t dot = function.find('.'); dot != std::string::npos; dot = function.find('.', dot + 1)) {
    const std::string table = function.substr(0, dot);
    if (written.insert(table).second) text += "mindspore." + table + " = {}\n\n";
  }
  return text;
}

std::string FunctionText(const Schema& schema, const Function& function, const std::vector<Release>& releases) {
  std::vector<AttributeHistory> parameters = ParametersOf(schema, function, releases);
  std::erase_if(parameters, [](const AttributeHistory& parameter) { return parameter.path == kCalled; });
  std::string text = parameters.empty() ? "" : StubClass(parameters, function.name, "", function.doc, releases);
  text += StubComment(function.doc, FunctionFacts(function, releases));
  text += "---\n---More: `muster docs mindspore." + function.name + "`\n";
  std::string names;
  if (function.by_name) {
    names = "settings";
    text += "---@param settings " + StubClassName(function.name) + "\n";
  } else {
    if (!parameters.empty()) text += "---@overload fun(names: " + StubClassName(function.name) + ")\n";
    std::set<std::string> done;
    for (const AttributeHistory& parameter : parameters) {
      if (parameter.depth > 0 || !done.insert(parameter.path).second) continue;
      const Attribute& record = parameter.latest();
      text += "---@param " + parameter.path + (record.required ? " " : "? ") + WrittenType(parameters, parameter.path) +
              " " + record.doc + "\n";
      names += (names.empty() ? "" : ", ") + parameter.path;
    }
  }
  return text + "function mindspore." + function.name + "(" + names + ") end\n\n";
}

}  // namespace

std::string CallStub(const Schema& schema) {
  const std::vector<Release> releases = DescribedReleases(schema);
  std::string text =
      "---@meta muster.mindspore\n"
      "-- The functions of MindSpore 2.5 and later for editors (`muster docs editors`), beside all of muster.context. "
      "Printed "
      "by\n"
      "-- `muster docs --stub mindspore` from the schema, and not edited by hand.\n\n"
      "---@class muster.MindSporeModule : muster.ContextModule\nlocal mindspore = {}\n\n";
  std::set<std::string> tables;
  for (const auto& [name, function] : schema.calls()) {
    text += Tables(name, tables) + FunctionText(schema, function, releases);
  }
  return text + "return mindspore\n";
}

namespace {

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
  return types.empty() ? "" : JoinedTypes(std::move(types));
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
  text += "---@param attributes " + StubClassName(function.name) + "\nfunction context.set_" + base +
          "(attributes) end\n\n";
  text += "---The value in force, as the recipe's release reads it back.\n";
  for (const AttributeHistory& history : histories) {
    const std::string type = history.depth > 0 ? "" : ReadTypeOf(history);
    if (!type.empty()) text += "---@overload fun(attribute: \"" + history.path + "\"): " + type + "\n";
  }
  text += "---@param attribute string\n---@return any\nfunction context.get_" + base + "(attribute) end\n\n";
  if (base != "context") {
    text += "---Resets all attributes to the defaults of the release.\nfunction context.reset_" + base + "() end\n\n";
  }
  return text;
}

}  // namespace

std::string ContextStub(const Schema& schema, const Outline& outline) {
  const std::vector<Release> all = DescribedReleases(schema);
  std::string text =
      "---@meta muster.context\n"
      "-- The context API of MindSpore for editors (`muster docs editors`). Printed by `muster docs --stub` from the "
      "schema, "
      "and not\n"
      "-- edited by hand: every attribute of every release, each with what muster checks.\n\n"
      "---@class muster.ContextModule\nlocal context = {}\n\n";
  std::string functions;
  for (const Outline::Entry& function : outline.functions) {
    const std::vector<AttributeHistory> histories = Histories(schema, function.name, all);
    text += StubClass(histories, function.name, "", function.doc, all);
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
