#include "reference/call_topics.h"

#include "reference/attribute_facts.h"
#include "reference/attribute_history.h"
#include "reference/attribute_page.h"
#include "reference/rule_facts.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

std::string RepeatText(const Function& function) {
  switch (function.repeats) {
    case Function::Repeats::kFree:
      return "can be called again";
    case Function::Repeats::kSame:
      return "can be called again with equal values only";
    case Function::Repeats::kOnce:
      return "can be called once in a process";
  }
  return "";
}

}  // namespace

std::vector<AttributeHistory> ParametersOf(const Schema& schema, const Function& function,
                                           const std::vector<Release>& releases) {
  std::vector<AttributeHistory> ordered;
  std::vector<AttributeHistory> histories = Histories(schema, function.name, releases);
  for (const std::string& name : function.parameters) {
    bool inside = false;  // a parameter is followed by its sub-keys
    for (const AttributeHistory& history : histories) {
      if (history.depth == 0) inside = history.path == name;
      if (inside) ordered.push_back(history);
    }
  }
  return ordered;
}

std::vector<Fact> FunctionFacts(const Function& function, const std::vector<Release>& releases) {
  std::vector<Fact> facts = {{"releases", {SpanText(releases, function.since, releases.back())}},
                             {"calls", {RepeatText(function)}}};
  if (!function.devices.empty()) {
    facts.push_back({"devices", {WordList(function.devices) + "; elsewhere MindSpore logs an error and does nothing"}});
  }
  return facts;
}

namespace {

std::string Signature(const Function& function, const std::vector<AttributeHistory>& parameters) {
  std::string text;
  for (const AttributeHistory& parameter : parameters) {
    const Attribute& record = parameter.latest();
    if (parameter.depth > 0 || (function.by_name && !record.always)) continue;
    text += text.empty() ? "" : ", ";
    text += record.name;
    if (!record.required) text += " = " + (record.default_value.IsNull() ? "nil" : ToText(record.default_value));
  }
  if (function.by_name) return "mindspore." + function.name + " { " + text + ", … }";
  return "mindspore." + function.name + "(" + text + ")";
}

Page FunctionPage(const Schema& schema, const Function& function, const std::vector<Release>& releases) {
  const std::vector<AttributeHistory> parameters = ParametersOf(schema, function, releases);
  Page page;
  page.title = "mindspore." + function.name;
  page.blocks.push_back(Paragraph{function.doc});
  page.blocks.push_back(Example{"lua", {Signature(function, parameters)}});
  page.blocks.push_back(FactList{FunctionFacts(function, releases)});
  Value::List data;
  const RuleIndex rules(schema, parameters, releases);
  for (const AttributeHistory& parameter : parameters) {
    page.blocks.push_back(Heading{parameter.path + ": " + parameter.latest().doc});
    FactList about = FactsOf(parameter, releases);
    const Rules naming = rules.Naming(KeyOf(function.name, parameter.path));
    if (!naming.empty()) about.facts.push_back({"rules", RuleLines(naming, releases)});
    page.blocks.emplace_back(std::move(about));
    data.push_back(AttributeData(parameter));
  }
  page.data = Value(Value::Map{{"name", Value(function.name)},
                               {"kind", Value("function")},
                               {"summary", Value(function.doc)},
                               {"parameters", Value(std::move(data))}});
  return page;
}

// What a function takes in its one table of names.
void AddSettings(Page& page, const Schema& schema, const Function& function, const std::vector<Release>& releases) {
  page.blocks.push_back(Paragraph{"Settings of `mindspore." + function.name + "`, sub-keys with their table:"});
  Table table{{"setting", "type", "default", "what it does"}, {}};
  for (const AttributeHistory& setting : ParametersOf(schema, function, releases)) {
    const Attribute& record = setting.latest();
    if (!record.when.empty()) continue;  // `muster docs` has all of them
    table.rows.push_back({"`" + setting.path + "`", ShortType(record), ShortDefault(record), record.doc});
  }
  page.blocks.emplace_back(std::move(table));
}

}  // namespace

Topics CallTopics(const Schema& schema, const std::optional<Release>& release) {
  const std::vector<Release> releases = release ? std::vector{*release} : DescribedReleases(schema);
  Topics topics;
  for (const auto& [name, function] : schema.calls()) {
    if (release && *release < function.since) continue;
    topics.push_back(
        {name, "function", function.doc, {"mindspore." + name}, true, [&schema, &function = function, releases] {
           return FunctionPage(schema, function, releases);
         }});
  }
  return topics;
}

Page CallsPage(const Schema& schema, const std::vector<Release>& releases) {
  Page page;
  page.title = "Functions of muster.mindspore";
  page.blocks.push_back(
      Paragraph{"What replaces `set_context` from 2.5 on. A recipe takes them from `require \"muster.mindspore\"` and "
                "calls them by position or with one table of names; `muster docs NAME` describes the parameters."});
  Table table{{"call", "what it does", "releases", "repeated", "devices"}, {}};
  for (const auto& [name, function] : schema.calls()) {
    table.rows.push_back({"`" + Signature(function, ParametersOf(schema, function, releases)) + "`", function.doc,
                          SpanText(releases, function.since, releases.back()), RepeatText(function),
                          WordList(function.devices)});
  }
  page.blocks.emplace_back(std::move(table));
  for (const auto& [name, function] : schema.calls()) {
    if (function.by_name) AddSettings(page, schema, function, releases);
  }
  return page;
}

}  // namespace muster
