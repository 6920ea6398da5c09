#include "reference/call_stub.h"

#include <set>
#include <vector>

#include "reference/attribute_facts.h"
#include "reference/attribute_history.h"
#include "reference/call_topics.h"
#include "reference/stub_types.h"

namespace muster {
namespace {

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

}  // namespace muster
