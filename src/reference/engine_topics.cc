#include "reference/engine_topics.h"

#include <cctype>
#include <memory>

#include "reference/record.h"

namespace muster {
namespace {

// How a value is written, by the type of the option (engine/engine_page.h).
std::string ValueForm(const std::string& type) {
  if (type == "count") return "whole number";
  if (type == "duration" || type == "notice") return "duration with a unit: `\"90m\"`, `\"12h\"`";
  if (type == "flag" || type == "each_trial") return "true or false";
  if (type == "list") return "list of texts";
  if (type == "table") return "table";
  if (type == "requeue") return "table: `{ on = { \"time_limit\", \"preempted\", \"node_fail\" }, max = 3 }`";
  return "text";
}

std::string DefaultText(const Value& value) {
  if (value.IsNull()) return {};
  return "; default: " + Ticked(value.AsString() != nullptr ? '"' + *value.AsString() + '"' : ToText(value));
}

// The option of the command line; Slurm and Kubernetes have their own (cli/options/engine_choice.cc).
std::string OptionName(const std::string& engine) {
  return engine == "slurm" || engine == "kubernetes" ? engine : "engine-option";
}

// The same for editors.
std::string StubType(const std::string& type) {
  if (type == "count") return "integer";
  if (type == "flag" || type == "each_trial") return "boolean";
  if (type == "list") return "string[]";
  if (type == "table") return "table<string, any>";
  if (type == "requeue") return "string|{ on: (\"time_limit\"|\"preempted\"|\"node_fail\")[], max?: integer }";
  return type == "text" ? "string|integer" : "string";
}

std::string ClassName(const std::string& engine) {
  if (engine == "gridengine") return "muster.GridEngine";
  std::string name = engine;
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return "muster." + name;
}

Page EnginePage(const Value& engine) {
  const std::string name = TextOf(engine, "name");
  Page page;
  page.title = "Options of the engine " + Ticked(name);
  page.blocks.emplace_back(Paragraph{TextOf(engine, "doc")});
  std::string first;
  FactList list;
  for (const Value& option : ListOf(engine, "options")) {
    const std::string option_name = TextOf(option, "name");
    Fact fact{Ticked(option_name), {ValueForm(TextOf(option, "type")) + DefaultText(FieldOf(option, "default"))}};
    fact.lines.push_back(TextOf(option, "doc"));
    const std::string line = TextOf(option, "line");
    if (line.starts_with('-')) fact.lines.push_back("in the script: " + Ticked(line));
    if (first.empty() && TextOf(option, "type") == "text" && option_name != "as") first = option_name;
    list.facts.push_back(std::move(fact));
  }
  page.blocks.emplace_back(
      Example{"",
              {"muster run RECIPE --on " + name + " --" + OptionName(name) + " " + first + "=VALUE",
               name + " = { " + first + " = \"VALUE\" }      in a recipe or a site file"}});
  page.blocks.emplace_back(std::move(list));
  page.data =
      Value(Value::Map{{"name", Value(name)}, {"kind", Value("engine")}, {"options", FieldOf(engine, "options")}});
  return page;
}

}  // namespace

std::string EngineStub(const std::vector<Value>& pages) {
  std::string text =
      "---@meta _\n"
      "-- The options of engines for editors (`muster docs editors`), in recipes and site files. Printed by `muster "
      "docs "
      "--stub\n"
      "-- engines` from the engines' pages, and not edited by hand.\n";
  for (const Value& page : pages) {
    const std::string name = TextOf(page, "name");
    text += "\n---Options of the engine " + name + ": `muster docs " + name + "`.\n---@class " + ClassName(name) + "\n";
    for (const Value& option : ListOf(page, "options")) {
      text += "---@field " + TextOf(option, "name") + "? " + StubType(TextOf(option, "type")) + " " +
              TextOf(option, "doc") + "\n";
    }
  }
  return text;
}

Topics EngineTopics(const std::vector<Value>& pages) {
  const auto known = std::make_shared<std::vector<Value>>(pages);
  Topics topics;
  for (std::size_t i = 0; i < known->size(); ++i) {
    const std::string name = TextOf((*known)[i], "name");
    std::vector<std::string> others;
    for (const Value& option : ListOf((*known)[i], "options")) others.push_back(name + "." + TextOf(option, "name"));
    topics.push_back({name, "engines", "options of " + TextOf((*known)[i], "doc"), std::move(others), true,
                      [known, i] { return EnginePage((*known)[i]); }});
  }
  return topics;
}

}  // namespace muster
