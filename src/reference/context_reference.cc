#include "reference/context_reference.h"

#include <algorithm>
#include <iterator>

#include "reference/attribute_facts.h"
#include "reference/attribute_page.h"
#include "reference/call_topics.h"
#include "reference/context_topics.h"
#include "reference/rule_facts.h"
#include "reference/rule_index.h"

namespace muster {
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
