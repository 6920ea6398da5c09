// The changes between two plans by cause, where it is known what each cause does alone. Pure: the caller has made the
// plans, and knows what they were made of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/text/plan_diff.h"

namespace muster {

// What somebody did differently: a parameter, the cluster, the text of the recipe, or how it was called besides.
struct PlanCause {
  std::string kind;  // "parameter", "cluster", "recipe", "call"
  std::string name;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::string source;  // where the new value comes from: "command line", "recipes/gpt.lua:12"; may be empty
  std::vector<std::string> details;  // lines that tell more: those of the recipe that differ
  // What it changes alone, if that could be found out; else why not: one line, or empty if nobody tried.
  std::optional<std::vector<PlanChange>> alone;
  std::string why_not;
};

// Changes with the same causes. Without causes: nobody knows, or nothing that was tried alone does it.
struct CausedChanges {
  std::vector<std::size_t> causes;   // indices, ascending
  std::vector<std::size_t> changes;  // indices, ascending
  bool together = false;             // none of the causes does it alone

  bool operator==(const CausedChanges&) const = default;
};

// Every change is in one group, every cause in at least one; groups of single causes come first, in their order. What
// no cause does alone is put down to those that could not be tried alone, or else to all of them together. A single
// cause is that of all changes, tried or not.
std::vector<CausedChanges> GroupByCause(const std::vector<PlanChange>& changes, const std::vector<PlanCause>& causes);

}  // namespace muster
