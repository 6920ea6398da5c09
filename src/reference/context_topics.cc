#include "reference/context_topics.h"

#include <algorithm>
#include <memory>
#include <set>

#include "reference/attribute_page.h"
#include "reference/call_topics.h"
#include "reference/rule_facts.h"
#include "reference/rule_index.h"
#include "settings/schema/unknown_key.h"

namespace muster {
namespace {

// The data for pages; shared by the topics.
struct Known {
  const Schema& schema;
  const Outline& outline;
  std::vector<Release> releases;
  std::vector<AttributeHistory> histories;  // by function in the outline's order, then in that of Histories; files
  RuleIndex rules;

  // Attributes (no sub-keys) for which the predicate holds.
  template <class Fits>
  std::vector<const AttributeHistory*> Attributes(Fits fits) const {
    std::vector<const AttributeHistory*> found;
    for (const AttributeHistory& history : histories) {
      if (!history.in_file() && history.depth == 0 && fits(history)) found.push_back(&history);
    }
    return found;
  }
  std::vector<const AttributeHistory*> Attributes() const {
    return Attributes([](const AttributeHistory&) { return true; });
  }
};
using KnownPointer = std::shared_ptr<const Known>;

bool InGroup(const AttributeHistory& history, const Outline::Entry& group) {
  return history.function == group.function && history.latest().group == group.name;
}

Value ListData(const std::string& name, const std::string& kind, const std::string& summary,
               const std::vector<const AttributeHistory*>& histories) {
  Value::List attributes;
  for (const AttributeHistory* history : histories) attributes.push_back(AttributeData(*history));
  return Value(Value::Map{{"name", Value(name)},
                          {"kind", Value(kind)},
                          {"summary", Value(summary)},
                          {"attributes", Value(std::move(attributes))}});
}

std::string Base(const std::string& function) { return function.substr(function.find('_') + 1); }

bool HasReset(const std::string& function) { return Base(function) != "context"; }

Page FunctionPage(const Known& known, const Outline::Entry& function) {
  Page page;
  page.title = "context." + function.name;
  page.blocks.push_back(Paragraph{function.doc});
  if (const std::string status = DeprecationText(function); !status.empty())
    page.blocks.push_back(FactList{{{"status", {status}}}});
  const std::string base = Base(function.name);
  std::vector<std::string> calls = {"context.set_" + base + " { attribute = value, … }",
                                    "context.get_" + base + "(\"attribute\")"};
  if (HasReset(function.name)) calls.push_back("context.reset_" + base + "()");
  page.blocks.push_back(Example{"lua", std::move(calls)});
  const auto of_function = [&](const AttributeHistory& history) { return history.function == function.name; };
  for (const Outline::Entry& group : known.outline.groups) {
    const auto attributes = known.Attributes(
        [&](const AttributeHistory& history) { return of_function(history) && InGroup(history, group); });
    if (attributes.empty()) continue;
    page.blocks.push_back(Heading{group.title + ": " + group.doc});
    page.blocks.emplace_back(AttributeTable(attributes, known.releases, false));
  }
  if (const Rules rules = known.rules.Naming(function.name); !rules.empty()) {
    page.blocks.push_back(Heading{"Rules on the whole"});
    page.blocks.push_back(FactList{{{"rules", RuleLines(rules, known.releases)}}});
  }
  page.data = ListData(function.name, "function", function.doc, known.Attributes(of_function));
  return page;
}

Page GroupPage(const Known& known, const Outline::Entry& entry, const std::string& kind,
               const std::vector<const AttributeHistory*>& attributes) {
  Page page;
  page.title = entry.title + (entry.function.empty() ? "" : " (context." + entry.function + ")");
  page.blocks.push_back(Paragraph{entry.doc});
  page.blocks.emplace_back(AttributeTable(attributes, known.releases, false));
  page.data = ListData(entry.name, kind, entry.doc, attributes);
  return page;
}

Page ReleasesPage(const Schema& schema) {
  Page page;
  page.title = "MindSpore releases";
  page.blocks.push_back(
      Paragraph{"What a recipe can write as `mindspore = \"…\"`; a short name is the newest of its line."});
  Table table{{"release", "short name", "when"}, {}};
  Value::List list;
  for (const ReleaseFacts& facts : schema.releases()) {
    if (!facts.described) continue;
    const std::string release = ReleaseText(facts.release);
    table.rows.push_back(
        {"`" + release + "`", facts.short_name.empty() ? "" : "`" + facts.short_name + "`", facts.doc});
    list.push_back(
        Value(Value::Map{{"release", Value(release)},
                         {"short", facts.short_name.empty() ? Value() : Value(facts.short_name)},
                         {"when", Value(facts.doc)},
                         {"described_from", facts.described_from.empty() ? Value() : Value(facts.described_from)}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.data =
      Value(Value::Map{{"name", Value("releases")}, {"kind", Value("list")}, {"releases", Value(std::move(list))}});
  return page;
}

void AddFunctions(Topics& topics, const KnownPointer& known) {
  for (const Outline::Entry& function : known->outline.functions) {
    const std::string base = Base(function.name);
    std::vector<std::string> names = {"get_" + base, "context." + function.name};
    if (HasReset(function.name)) names.push_back("reset_" + base);
    const bool exists = std::any_of(known->histories.begin(), known->histories.end(),
                                    [&](const AttributeHistory& history) { return history.function == function.name; });
    if (!exists) continue;
    topics.push_back({function.name, "function", function.doc, std::move(names), true,
                      [known, &function] { return FunctionPage(*known, function); }});
  }
}

// The subject of the history's page.
AttributeSubject SubjectOf(const Known& known, const AttributeHistory& own) {
  AttributeSubject subject;
  for (const AttributeHistory& other : known.histories) {
    if (own.in_file() && own.depth == 0 && !other.in_file() && other.latest().file == own.path)
      subject.named_by.push_back(&other);
    if (other.function != own.function) continue;
    if (other.path == own.path) subject.variants.push_back(&other);
    if (other.depth == own.depth + 1 && other.path.starts_with(own.path + ".")) subject.keys.push_back(&other);
  }
  if (own.in_file()) return subject;
  const std::string key = own.function + "." + own.path;
  subject.rules = known.rules.Naming(key);
  subject.keys_with_rules = known.rules.NamedBelow(key);
  return subject;
}

void AddAttributes(Topics& topics, const KnownPointer& known) {
  std::set<std::pair<std::string, std::string>> done;
  for (std::size_t i = 0; i < known->histories.size(); ++i) {
    const AttributeHistory& history = known->histories[i];
    if (!done.emplace(history.function, history.path).second) continue;
    std::vector<std::string> names;
    if (!history.in_file()) names.push_back(history.function + "." + history.path);
    if (history.depth > 0) names.push_back(history.name());
    for (const auto& [name, unused] : history.latest().constants) names.push_back(name);
    const bool is_file = history.in_file() && history.depth == 0;
    topics.push_back({history.path, KindWord(history), history.latest().doc, std::move(names), is_file,
                      [known, i] { return AttributePage(SubjectOf(*known, known->histories[i]), known->releases); }});
  }
}

// All rules, grouped by the setting that they report, in the schema's order.
Page RulesPage(const Known& known) {
  Page page;
  page.title = "Rules between attributes";
  page.blocks.push_back(
      Paragraph{"What is checked once the job is known. Errors are what MindSpore itself refuses, warnings what its "
                "documents say. Rules about one attribute alone are on its page."});
  std::vector<std::pair<std::string, Rules>> by_blamed;
  Value::List data;
  for (const Rule* rule : known.rules.all()) {
    data.push_back(RuleData(*rule, known.releases));
    const auto same =
        std::find_if(by_blamed.begin(), by_blamed.end(), [&](const auto& entry) { return entry.first == rule->about; });
    (same == by_blamed.end() ? by_blamed.emplace_back(rule->about, Rules()) : *same).second.push_back(rule);
  }
  FactList list;
  for (const auto& [about, rules] : by_blamed)
    list.facts.push_back({about.substr(about.find('.') + 1), RuleLines(rules, known.releases)});
  page.blocks.emplace_back(std::move(list));
  page.data = Value(Value::Map{{"name", Value("rules")}, {"kind", Value("list")}, {"rules", Value(std::move(data))}});
  return page;
}

void AddGroups(Topics& topics, const KnownPointer& known) {
  for (const Outline::Entry& group : known->outline.groups) {
    auto attributes = known->Attributes([&](const AttributeHistory& history) { return InGroup(history, group); });
    if (attributes.empty()) continue;
    topics.push_back(
        {group.name, "group", group.title + ": " + group.doc, {group.title}, true, [known, &group, attributes] {
           return GroupPage(*known, group, "group", attributes);
         }});
  }
  for (const Outline::Entry& area : known->outline.areas) {
    auto attributes =
        known->Attributes([&](const AttributeHistory& history) { return history.latest().area == area.name; });
    if (attributes.empty()) continue;
    topics.push_back({area.name,
                      "area of the guide of 1.0",
                      area.title + ": " + area.doc,
                      {area.title},
                      true,
                      [known, &area, attributes] { return GroupPage(*known, area, "area", attributes); }});
  }
}

}  // namespace

Topics ContextTopics(const Schema& schema, const Outline& outline, const std::optional<Release>& release) {
  const auto releases = release ? std::vector{*release} : DescribedReleases(schema);
  std::vector<AttributeHistory> histories;
  for (const Outline::Entry& function : outline.functions) {
    for (AttributeHistory& history : Histories(schema, function.name, releases))
      histories.push_back(std::move(history));
  }
  RuleIndex rules(schema, histories, releases);
  for (AttributeHistory& file : FileHistories(schema, releases)) histories.push_back(std::move(file));
  const auto known = std::make_shared<Known>(Known{schema, outline, releases, std::move(histories), std::move(rules)});
  Topics topics;
  AddFunctions(topics, known);
  AddAttributes(topics, known);
  AddGroups(topics, known);
  for (Topic& topic : CallTopics(schema, release)) topics.push_back(std::move(topic));
  topics.push_back(
      {"releases", "list", "MindSpore releases that a recipe can name", {"release", "mindspore"}, true, [&schema] {
         return ReleasesPage(schema);
       }});
  topics.push_back(
      {"rules", "list", "what is checked between attributes, and against the job", {"rule"}, true, [known] {
         return RulesPage(*known);
       }});
  return topics;
}

std::optional<Diagnostic> NotInRelease(const Schema& schema, const Release& release, const std::string& name) {
  const std::string called = name.starts_with("mindspore.") ? name.substr(name.find('.') + 1) : name;
  if (schema.FindCall(called) != nullptr) return UnknownFunction(schema, release, called, called, {});
  const std::string attribute = name.substr(0, name.find('.'));
  if (schema.files().contains(attribute))
    return Error("release", {}, name + " is not in MindSpore " + ReleaseText(release));
  for (const std::string& function : schema.Functions()) {
    if (name == function) return UnknownFunction(schema, release, function, function, {});
    if (schema.FindInAnyRelease(function, attribute, release) == nullptr) continue;
    if (schema.Find(function, attribute, release) == nullptr)
      return UnknownKey(schema, release, function, attribute, {});
    return Error("release", {}, name + " is not in MindSpore " + ReleaseText(release));
  }
  return std::nullopt;
}

}  // namespace muster
