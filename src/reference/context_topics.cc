#include "reference/context_topics.h"

#include <algorithm>
#include <memory>
#include <set>

#include "reference/attribute_page.h"
#include "settings/unknown_key.h"

namespace muster {
namespace {

// Everything that pages are made of; shared by the topics.
struct Known {
  const Schema& schema;
  const Outline& outline;
  std::vector<Release> releases;
  std::vector<AttributeHistory> histories;  // by function in the outline's order, then as Histories gives them

  // Attributes (no sub-keys) that fit.
  template <class Fits>
  std::vector<const AttributeHistory*> Attributes(Fits fits) const {
    std::vector<const AttributeHistory*> found;
    for (const AttributeHistory& history : histories) {
      if (history.depth == 0 && fits(history)) found.push_back(&history);
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
    list.push_back(Value(Value::Map{{"release", Value(release)},
                                    {"short", facts.short_name.empty() ? Value() : Value(facts.short_name)},
                                    {"when", Value(facts.doc)}}));
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

void AddAttributes(Topics& topics, const KnownPointer& known) {
  std::set<std::pair<std::string, std::string>> done;
  for (std::size_t i = 0; i < known->histories.size(); ++i) {
    const AttributeHistory& history = known->histories[i];
    if (!done.emplace(history.function, history.path).second) continue;
    std::vector<std::string> names = {history.function + "." + history.path};
    if (history.depth > 0) names.push_back(history.name());
    for (const auto& [name, unused] : history.latest().constants) names.push_back(name);
    const auto page = [known, i] {
      const AttributeHistory& own = known->histories[i];
      std::vector<const AttributeHistory*> variants;
      std::vector<const AttributeHistory*> keys;
      for (const AttributeHistory& other : known->histories) {
        if (other.function != own.function) continue;
        if (other.path == own.path) variants.push_back(&other);
        if (other.depth == own.depth + 1 && other.path.starts_with(own.path + ".")) keys.push_back(&other);
      }
      return AttributePage(variants, keys, known->releases);
    };
    topics.push_back({history.path, history.depth == 0 ? "attribute" : "sub-key", history.latest().doc,
                      std::move(names), false, page});
  }
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
  auto known = std::make_shared<Known>(Known{schema, outline, DescribedReleases(schema), {}});
  if (release) known->releases = {*release};
  for (const Outline::Entry& function : outline.functions) {
    for (AttributeHistory& history : Histories(schema, function.name, known->releases))
      known->histories.push_back(std::move(history));
  }
  Topics topics;
  AddFunctions(topics, known);
  AddAttributes(topics, known);
  AddGroups(topics, known);
  topics.push_back(
      {"releases", "list", "MindSpore releases that a recipe can name", {"release", "mindspore"}, true, [&schema] {
         return ReleasesPage(schema);
       }});
  return topics;
}

std::optional<Diagnostic> NotInRelease(const Schema& schema, const Release& release, const std::string& name) {
  const std::string attribute = name.substr(0, name.find('.'));
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
