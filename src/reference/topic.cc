#include "reference/topic.h"

#include <algorithm>

#include "base/values/shell_quote.h"
#include "base/values/suggest.h"

namespace muster {

std::vector<const Topic*> TopicsNamed(const Topics& topics, std::string_view name) {
  std::vector<const Topic*> found;
  for (const Topic& topic : topics) {
    if (topic.name == name && (found.empty() || found.front()->kind == topic.kind)) found.push_back(&topic);
  }
  // The guide of a name that the reference has, too, comes after it.
  for (const Topic& topic : topics) {
    const bool more = topic.kind.starts_with(kGuides) && !found.empty() && found.front()->kind != topic.kind;
    if (topic.name == name && more) found.push_back(&topic);
  }
  if (!found.empty()) return found;
  for (const Topic& topic : topics) {
    if (std::find(topic.other_names.begin(), topic.other_names.end(), name) != topic.other_names.end())
      found.push_back(&topic);
  }
  return found;
}

Diagnostic UnknownTopic(const Topics& topics, std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  std::vector<std::string> listed;
  for (const Topic& topic : topics) {
    names.push_back(topic.name);
    names.insert(names.end(), topic.other_names.begin(), topic.other_names.end());
    if (topic.listed) listed.push_back(topic.name);
  }
  const bool near = Nearest(name, names).has_value();
  return Error("unknown_topic", {}, "there is no " + what + " " + Quoted(name),
               DidYouMean(name, near ? names : listed));
}

Page OverviewPage(const Topics& topics) {
  Page page;
  page.title = "muster docs TOPIC";
  page.blocks.push_back(
      Paragraph{"One of these, or any attribute, sub-key (`ascend_config.precision_mode`), field of a recipe, sweep or "
                "site (`role.count`, `sweep.budget`), function (`muster.flags`) or option of an engine "
                "(`slurm.partition`). A guide is printed behind the reference of the same name."});
  Value::List listed;
  std::vector<std::string> kinds;
  for (const bool guides : {true, false}) {
    for (const Topic& topic : topics) {
      const bool wanted = topic.listed && topic.kind.starts_with(kGuides) == guides;
      if (wanted && std::find(kinds.begin(), kinds.end(), topic.kind) == kinds.end()) kinds.push_back(topic.kind);
    }
  }
  for (const std::string& kind : kinds) {
    Table table{{kind, "what it is about"}, {}};
    for (const Topic& topic : topics) {
      if (topic.listed && topic.kind == kind) table.rows.push_back({"`" + topic.name + "`", topic.summary});
    }
    page.blocks.emplace_back(std::move(table));
  }
  for (const Topic& topic : topics) {
    listed.push_back(Value(Value::Map{{"name", topic.name}, {"kind", topic.kind}, {"summary", topic.summary}}));
  }
  page.data = Value(Value::Map{{"kind", "overview"}, {"topics", Value(std::move(listed))}});
  return page;
}

}  // namespace muster
