// The rules between attributes (muster/mindspore/schema.h, Rule): which of them concern an attribute.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/attribute_history.h"

namespace muster {

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

}  // namespace muster
