// Topics: the names that `muster docs` can be asked for, and who writes their pages. Each field of knowledge (the
// context API, later others) makes a list of its topics; looking up, listing and guessing is the same for all.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "reference/page.h"

namespace muster {

struct Topic {
  std::string name;                      // "mode", "ascend_config.precision_mode", "system"
  std::string kind;                      // "attribute", "sub-key", "function", "group", …
  std::string summary;                   // one line
  std::vector<std::string> other_names;  // "set_context.mode"
  bool listed = false;                   // whether the overview names it; else it names what lists it
  std::function<Page()> page;            // what it holds must live as long as the topic
};
using Topics = std::vector<Topic>;

// Those of that name; where several kinds share it, those of the kind that was listed first. Without any: those that
// have it as another name.
std::vector<const Topic*> TopicsNamed(const Topics& topics, std::string_view name);

// Nothing is called that: kind "unknown_topic", with the nearest names. `what` says what was looked for.
Diagnostic UnknownTopic(const Topics& topics, std::string_view name, const std::string& what);

// The listed topics by kind, in their order.
Page OverviewPage(const Topics& topics);

}  // namespace muster
