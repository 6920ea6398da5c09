// What is told about the rules between attributes (muster/schema.h, Rule): which of them name an attribute, and each in
// a sentence or, for programs, in fields.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/attribute_history.h"

namespace muster {

using Rules = std::vector<const Rule*>;

// Rules by what they name. Points into the schema.
class RuleIndex {
 public:
  // Of the rules that hold in one of the releases; `histories` are the attributes and sub-keys that there are.
  RuleIndex(const Schema& schema, const std::vector<AttributeHistory>& histories, const std::vector<Release>& releases);

  // In the schema's order.
  const Rules& all() const { return all_; }
  // Those that name "set_context.mode", or options in its text; of a function alone, those that blame it as a whole.
  // Rules that name a sub-key are the sub-key's.
  Rules Naming(const std::string& key) const;
  // Keys of the sub-keys below that rules name, sorted: "set_context.jit_config.jit_level".
  std::vector<std::string> NamedBelow(const std::string& key) const;

 private:
  Rules all_;
  std::map<std::string, Rules> by_key_;
};

// A sentence for each, with severity, releases and source; rules that differ in the last value they speak of only are
// one sentence. `releases` are those that are talked about.
std::vector<std::string> RuleLines(const Rules& rules, const std::vector<Release>& releases);

Value RuleData(const Rule& rule, const std::vector<Release>& releases);

}  // namespace muster
