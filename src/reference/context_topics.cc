#include "reference/context_topics.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "reference/attribute_page.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

Diagnostic Bad(const std::string& what) { return Error("schema", {}, "the outline of the reference: " + what); }

Result<std::vector<Outline::Entry>> Entries(const Value::Map& record, const std::string& list) {
  const auto found = record.find(list);
  const Value::List* records = found == record.end() ? nullptr : found->second.AsList();
  if (records == nullptr) return Fail(Bad(list + " is no list"));
  std::vector<Outline::Entry> entries;
  for (const Value& value : *records) {
    if (value.AsMap() == nullptr) return Fail(Bad(list + " holds what is no record"));
    Outline::Entry& entry = entries.emplace_back();
    for (const auto& [key, field] : *value.AsMap()) {
      std::string* member = key == "1"            ? &entry.name
                            : key == "title"      ? &entry.title
                            : key == "of"         ? &entry.function
                            : key == "doc"        ? &entry.doc
                            : key == "deprecated" ? &entry.deprecated
                            : key == "successor"  ? &entry.successor
                                                  : nullptr;
      if (member == nullptr || field.AsString() == nullptr) return Fail(Bad("bad field " + key + " in " + list));
      *member = *field.AsString();
    }
    if (entry.name.empty() || entry.doc.empty()) return Fail(Bad("a record of " + list + " has no name or no doc"));
    if (entry.title.empty()) entry.title = entry.name;
  }
  return entries;
}

}  // namespace

std::string DeprecationText(const Outline::Entry& function) {
  if (function.deprecated.empty()) return "";
  return "deprecated by MindSpore's documents from " + function.deprecated + " on" +
         (function.successor.empty() ? ", without a successor" : ", for " + function.successor);
}

Result<Outline> OutlineFromValue(const Value& record) {
  const Value::Map* map = record.AsMap();
  if (map == nullptr) return Fail(Bad("it is no table"));
  Outline outline;
  for (auto [list, member] : {std::pair("functions", &outline.functions), std::pair("groups", &outline.groups),
                              std::pair("areas", &outline.areas)}) {
    auto entries = Entries(*map, list);
    if (!entries) return Fail(entries.error());
    *member = *std::move(entries);
  }
  return outline;
}

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
  page.data = Value::Map{
      {"name", function.name}, {"kind", "function"}, {"summary", function.doc}, {"parameters", std::move(data)}};
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
  return Value::Map{{"name", name}, {"kind", kind}, {"summary", summary}, {"attributes", std::move(attributes)}};
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
        Value(Value::Map{{"release", release},
                         {"short", facts.short_name.empty() ? Value() : Value(facts.short_name)},
                         {"when", facts.doc},
                         {"described_from", facts.described_from.empty() ? Value() : Value(facts.described_from)}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.data = Value::Map{{"name", "releases"}, {"kind", "list"}, {"releases", std::move(list)}};
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
  page.data = Value::Map{{"name", "rules"}, {"kind", "list"}, {"rules", std::move(data)}};
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

namespace {

// Heading anchors as GitHub and others generate them: "`pipeline_stages`" is #pipeline_stages.
std::string Linked(const std::string& name) { return "[`" + name + "`](#" + name + ")"; }

Table Overview(const std::vector<const AttributeHistory*>& attributes, const std::vector<Release>& all) {
  Table table = AttributeTable(attributes, all, true);
  for (std::size_t i = 0; i < attributes.size(); ++i) table.rows[i].front() = Linked(attributes[i]->path);
  return table;
}

Page Details(const AttributeHistory& history, const std::vector<Release>& all) {
  Page page;
  page.title = "`" + history.path + "`";
  page.blocks.push_back(Paragraph{history.latest().doc});
  page.blocks.emplace_back(FactsOf(history, all));
  return page;
}

// If a path has several histories, its rules are listed with the last one.
bool IsLastOfItsPath(const std::vector<const AttributeHistory*>& reported, std::size_t i) {
  return std::none_of(reported.begin() + static_cast<std::ptrdiff_t>(i) + 1, reported.end(),
                      [&](const AttributeHistory* later) { return later->path == reported[i]->path; });
}

void AddFacts(Page& page, std::vector<Fact> facts) {
  auto& list = std::get<FactList>(page.blocks.back()).facts;
  list.insert(list.end(), std::make_move_iterator(facts.begin()), std::make_move_iterator(facts.end()));
}

Page Introduction() {
  Page page;
  page.title = "Attributes of the context API";
  page.blocks.push_back(Paragraph{
      "What `context.set_context`, `context.set_auto_parallel_context` and `context.set_ps_context` take in a recipe, "
      "release by release of MindSpore, as muster checks it. `muster docs NAME` prints the same, `muster docs NAME "
      "--mindspore 2.3` for one release; this page is printed by `muster docs --markdown` and is not edited by hand."});
  page.blocks.push_back(Paragraph{
      "Type and default in the tables are those of the newest release that has the attribute; where they were others, "
      "the entry of the attribute has a line for each span of releases. \"Behaviour\" says what MindSpore does where "
      "that is not what its documents say, \"rules\" what is checked between attributes once the job is known: an "
      "error "
      "is what MindSpore itself refuses, a warning what its documents say. The source of a rule is in brackets."});
  return page;
}

Page FilesIntroduction() {
  Page page;
  page.title = "JSON files";
  page.blocks.push_back(
      Paragraph{"What MindSpore reads where an attribute names a JSON file. A recipe ships one with "
                "`muster.file \"NAME\"`; then it is checked key by key, and errors stand at the file's own lines."});
  return page;
}

// The attributes of the function that belong to the group, each followed by its sub-keys.
std::string GroupSection(const std::vector<AttributeHistory>& histories, const Outline::Entry& group,
                         const RuleIndex& rules, const std::vector<Release>& all) {
  std::vector<const AttributeHistory*> attributes;
  std::vector<const AttributeHistory*> reported;
  bool in_group = false;
  for (const AttributeHistory& history : histories) {
    if (history.depth == 0) in_group = history.function == group.function && history.latest().group == group.name;
    if (!in_group) continue;
    reported.push_back(&history);
    if (history.depth == 0) attributes.push_back(&history);
  }
  if (attributes.empty()) return "";
  Page page;
  page.title = group.title;
  page.blocks.push_back(Paragraph{group.doc});
  page.blocks.emplace_back(Overview(attributes, all));
  std::string text = PageMarkdown(page, 3) + "\n";
  for (std::size_t i = 0; i < reported.size(); ++i) {
    Page details = Details(*reported[i], all);
    const Rules naming = rules.Naming(reported[i]->function + "." + reported[i]->path);
    if (!naming.empty() && IsLastOfItsPath(reported, i)) AddFacts(details, {{"rules", RuleLines(naming, all)}});
    text += PageMarkdown(details, reported[i]->depth == 0 ? 4 : 5) + "\n";
  }
  return text;
}

// Whether a table of keys contains the whole fact.
bool IsInTable(const Fact& fact) {
  return fact.lines.size() == 1 && (fact.label == "releases" || fact.label == "type" || fact.label == "default");
}

// A JSON file and its keys. The table covers most keys fully; the others follow it.
std::string FileSection(const std::vector<AttributeHistory>& files, const AttributeHistory& file,
                        const std::vector<AttributeHistory>& histories, const std::vector<Release>& all) {
  std::vector<const AttributeHistory*> named_by;
  for (const AttributeHistory& history : histories) {
    if (history.latest().file == file.path) named_by.push_back(&history);
  }
  std::vector<const AttributeHistory*> keys;
  for (const AttributeHistory& history : files) {
    if (history.path.starts_with(file.path + ".")) keys.push_back(&history);
  }
  Page page = Details(file, all);
  AddFacts(page, NamedByFact(file, named_by));
  page.blocks.emplace_back(AttributeTable(keys, all, true));
  std::string text = PageMarkdown(page, 3) + "\n";
  for (const AttributeHistory* key : keys) {
    const FactList facts = FactsOf(*key, all);
    if (!std::all_of(facts.facts.begin(), facts.facts.end(), [](const Fact& fact) { return IsInTable(fact); }))
      text += PageMarkdown(Details(*key, all), 4) + "\n";
  }
  return text;
}

}  // namespace

std::string ContextReference(const Schema& schema, const Outline& outline) {
  const std::vector<Release> all = DescribedReleases(schema);
  std::string text = PageMarkdown(Introduction(), 1) + "\n";
  const auto topics = ContextTopics(schema, outline, std::nullopt);
  for (const Topic* releases : TopicsNamed(topics, "releases")) {
    text += PageMarkdown(releases->page(), 2) + "\n";
  }
  std::vector<AttributeHistory> histories;
  for (const Outline::Entry& function : outline.functions) {
    for (AttributeHistory& history : Histories(schema, function.name, all)) histories.push_back(std::move(history));
  }
  const RuleIndex rules(schema, histories, all);
  for (const Outline::Entry& function : outline.functions) {
    Page page;
    page.title = "context." + function.name;
    page.blocks.push_back(Paragraph{function.doc});
    if (const std::string status = DeprecationText(function); !status.empty())
      page.blocks.push_back(FactList{{{"status", {status}}}});
    if (const Rules naming = rules.Naming(function.name); !naming.empty())
      page.blocks.push_back(FactList{{{"rules", RuleLines(naming, all)}}});
    text += PageMarkdown(page, 2) + "\n";
    for (const Outline::Entry& group : outline.groups) {
      if (group.function == function.name) text += GroupSection(histories, group, rules, all);
    }
  }
  text += PageMarkdown(CallsPage(schema, all), 2) + "\n";
  text += PageMarkdown(FilesIntroduction(), 2) + "\n";
  const std::vector<AttributeHistory> files = FileHistories(schema, all);
  for (const AttributeHistory& file : files) {
    if (file.depth == 0) text += FileSection(files, file, histories, all);
  }
  text.pop_back();
  return text;
}

}  // namespace muster
