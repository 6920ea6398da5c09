// Topics: the names that `muster docs` accepts, and the functions that create their pages. Each area (the context API
// and others) provides a list of topics; lookup, listing and suggestions are shared.
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
  bool listed = false;                   // in the overview; else in the page of another topic
  std::function<Page()> page;            // its data must live as long as the topic
};
using Topics = std::vector<Topic>;

constexpr std::string_view kGuides = "guides: ";  // begins the kind of a guide

// The topics of that name; if several kinds share it, those of the kind that comes first in the list, and the guide. If
// there are none, those with that alias.
std::vector<const Topic*> TopicsNamed(const Topics& topics, std::string_view name);

// No topic has that name: kind "unknown_topic", with the nearest names. `what` describes what was looked for.
Diagnostic UnknownTopic(const Topics& topics, std::string_view name, const std::string& what);

// The listed topics by kind, in order.
Page OverviewPage(const Topics& topics);

}  // namespace muster
