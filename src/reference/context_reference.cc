#include "reference/context_reference.h"

#include <algorithm>

#include "reference/attribute_facts.h"
#include "reference/attribute_page.h"
#include "reference/context_topics.h"

namespace muster {
namespace {

// Headings as GitHub and others make anchors of them: "`pipeline_stages`" is #pipeline_stages.
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

Page Introduction() {
  Page page;
  page.title = "Attributes of the context API";
  page.blocks.push_back(Paragraph{
      "What `context.set_context`, `context.set_auto_parallel_context` and `context.set_ps_context` take in a recipe, "
      "release by release of MindSpore, as muster checks it. The same is told by `muster docs NAME`, for one release "
      "by "
      "`muster docs NAME --mindspore 2.3`; this page is printed by `muster docs --markdown` and is not edited by "
      "hand."});
  page.blocks.push_back(Paragraph{
      "Type and default in the tables are those of the newest release that has the attribute; where they were others, "
      "the entry of the attribute has a line for each span of releases. \"Behaviour\" says what MindSpore does where "
      "that is not what its documents say."});
  return page;
}

// The attributes of the function that belong to the group, each followed by its sub-keys.
std::string GroupSection(const std::vector<AttributeHistory>& histories, const Outline::Entry& group,
                         const std::vector<Release>& all) {
  std::vector<const AttributeHistory*> attributes;
  std::vector<const AttributeHistory*> told;
  bool in_group = false;
  for (const AttributeHistory& history : histories) {
    if (history.depth == 0) in_group = history.latest().group == group.name;
    if (!in_group) continue;
    told.push_back(&history);
    if (history.depth == 0) attributes.push_back(&history);
  }
  if (attributes.empty()) return "";
  Page page;
  page.title = group.title;
  page.blocks.push_back(Paragraph{group.doc});
  page.blocks.emplace_back(Overview(attributes, all));
  std::string text = PageMarkdown(page, 3) + "\n";
  for (const AttributeHistory* history : told)
    text += PageMarkdown(Details(*history, all), history->depth == 0 ? 4 : 5) + "\n";
  return text;
}

}  // namespace

std::string ContextReference(const Schema& schema, const Outline& outline) {
  const std::vector<Release> all = DescribedReleases(schema);
  std::string text = PageMarkdown(Introduction(), 1) + "\n";
  for (const Topic* releases : TopicsNamed(ContextTopics(schema, outline, std::nullopt), "releases")) {
    text += PageMarkdown(releases->page(), 2) + "\n";
  }
  for (const Outline::Entry& function : outline.functions) {
    Page page;
    page.title = "context." + function.name;
    page.blocks.push_back(Paragraph{function.doc});
    text += PageMarkdown(page, 2) + "\n";
    const std::vector<AttributeHistory> histories = Histories(schema, function.name, all);
    for (const Outline::Entry& group : outline.groups) {
      if (group.function == function.name) text += GroupSection(histories, group, all);
    }
  }
  text.pop_back();
  return text;
}

}  // namespace muster
