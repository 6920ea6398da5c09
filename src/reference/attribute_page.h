// The page of one attribute, sub-key, JSON file or key, with the rules between attributes that name it, and tables
// that list several.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/attribute_facts.h"
#include "reference/page.h"

namespace muster {

// The rules between attributes (muster/mindspore/schema.h, Rule): which of them concern an attribute.

using Rules = std::vector<const Rule*>;

// The paths of all settings that the rule names; the first is the one that it reports.
std::vector<std::string> PathsOf(const Rule& rule);
// Whether `path` is a sub-key of `key`, at any depth.
bool IsBelow(std::string_view path, const std::string& key);
// Those of `releases` in which the rule holds.
std::vector<Release> HeldIn(const Rule& rule, const std::vector<Release>& releases);

// Rules by the settings that they name. Points into the schema.
class RuleIndex {
 public:
  // Includes rules that hold in one of the releases; `histories` are the existing attributes and sub-keys.
  RuleIndex(const Schema& schema, const std::vector<AttributeHistory>& histories, const std::vector<Release>& releases);

  // In the schema's order.
  const Rules& all() const { return all_; }
  // Rules that name "set_context.mode", or options in its text; for a function, those that report it as a whole. Rules
  // that name a sub-key are listed for the sub-key only.
  Rules Naming(const std::string& key) const;
  // Sub-keys below `key` that rules name, sorted: "set_context.jit_config.jit_level".
  std::vector<std::string> NamedBelow(const std::string& key) const;

 private:
  Rules all_;
  std::map<std::string, Rules> by_key_;
};

// The rules between attributes (muster/mindspore/schema.h, Rule), each as a sentence or as fields. RuleIndex finds
// those that concern an attribute.

// A sentence for each, with severity, releases and source; rules that differ only in their last value share one
// sentence. `releases` are those covered.
std::vector<std::string> RuleLines(const Rules& rules, const std::vector<Release>& releases);

Value RuleData(const Rule& rule, const std::vector<Release>& releases);

// The page of one attribute, sub-key, JSON file or key, and tables that list several.

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
