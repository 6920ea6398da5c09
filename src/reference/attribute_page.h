// The page of one attribute, sub-key, JSON file or key, and tables that list several.
#pragma once

#include <vector>

#include "reference/attribute_history.h"
#include "reference/page.h"
#include "reference/rule_index.h"

namespace muster {

struct AttributeSubject {
  // The histories of one path (several if its meaning depends on a sibling); never empty.
  std::vector<const AttributeHistory*> variants;
  std::vector<const AttributeHistory*> keys;      // its sub-keys, to be listed
  std::vector<const AttributeHistory*> named_by;  // of a JSON file: the attributes and sub-keys that name it
  Rules rules;                                    // that name it
  std::vector<std::string> keys_with_rules;       // sub-keys at any depth that rules name
};

// `all`: the releases covered.
Page AttributePage(const AttributeSubject& subject, const std::vector<Release>& all);

// "attribute", "sub-key", "JSON file" or "key".
std::string KindWord(const AttributeHistory& history);

// For a JSON file: the attributes that name it, "`context.set_context { … }`" each; nothing without them.
std::vector<Fact> NamedByFact(const AttributeHistory& file, const std::vector<const AttributeHistory*>& named_by);

// Name, releases and summary; with `values` also type and default (of the newest release).
Table AttributeTable(const std::vector<const AttributeHistory*>& histories, const std::vector<Release>& all,
                     bool values);

// Name, kind and summary of one for a list of topics in JSON.
Value AttributeData(const AttributeHistory& history);

}  // namespace muster
