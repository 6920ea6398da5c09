// What becomes different for a recipe that moves from one MindSpore release to another, beyond what its own release
// says already. Compares findings and records; evaluates nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/schema.h"
#include "muster/value.h"

namespace muster {

// A default that the recipe relies on, because it sets no value, and that is another one in the other release. No
// check can find it: the recipe is right on both and does something else.
struct DefaultChange {
  std::string function;  // "set_context"
  std::string name;      // "mode", "parallel_optimizer_config.gradient_accumulation_shard"
  std::string before;    // in words: "0 (GRAPH_MODE)"
  std::string after;

  bool operator==(const DefaultChange&) const = default;
};

// Of set_context first, by function and name. `set` is what the recipe sets ("set_context.mode" -> 0), of all its
// processes together. Looks at set_context and at the functions of which it sets anything; into a table only if it sets
// some of its sub-keys.
std::vector<DefaultChange> DefaultChanges(const Schema& schema, const Release& from, const Release& to,
                                          const Value::Map& set);

// The findings of `there` that `here` does not have: the same severity, kind, place, message and hint, whatever release
// these name, count as the same.
Diagnostics NewFindings(const Diagnostics& here, const Diagnostics& there);

}  // namespace muster
