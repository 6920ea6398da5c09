#include "reference/context_stub.h"

#include <map>
#include <vector>

#include "reference/stub_types.h"
#include "settings/schema/word_list.h"

namespace muster {
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
