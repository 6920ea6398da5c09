// The rules between attributes (muster/mindspore/schema.h, Rule), each as a sentence or as fields. rule_index.h finds
// those that concern an attribute.
#pragma once

#include <string>
#include <vector>

#include "reference/rule_index.h"

namespace muster {

// A sentence for each, with severity, releases and source; rules that differ only in their last value share one
// sentence. `releases` are those covered.
std::vector<std::string> RuleLines(const Rules& rules, const std::vector<Release>& releases);

Value RuleData(const Rule& rule, const std::vector<Release>& releases);

}  // namespace muster
