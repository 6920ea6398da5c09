// Finds what changes for a recipe between two MindSpore releases, beyond its problems in the first one. Compares
// findings and records; evaluates nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"

namespace muster {

// A default that the recipe relies on, because it sets no value, and that differs in the other release. No check can
// find it: the recipe is valid in both and behaves differently.
struct DefaultChange {
  std::string function;  // "set_context"
  std::string name;      // "mode", "parallel_optimizer_config.gradient_accumulation_shard"
  std::string before;    // in words: "0 (GRAPH_MODE)"
  std::string after;

  bool operator==(const DefaultChange&) const = default;
};

// Those of set_context first, sorted by function and name. `set` is what the recipe sets ("set_context.mode" -> 0), for
// all its processes together. Covers set_context and the functions with settings; sub-keys of a table only if some of
// them are set.
std::vector<DefaultChange> DefaultChanges(const Schema& schema, const Release& from, const Release& to,
                                          const Value::Map& set);

// The findings in `there` that are not in `here`: equal severity, kind, place, message and hint, ignoring the releases
// they name, count as the same finding.
Diagnostics NewFindings(const Diagnostics& here, const Diagnostics& there);

}  // namespace muster
