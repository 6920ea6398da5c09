// Groups the changes between two plans by cause, as far as the effect of each single cause is known. Pure: the caller
// has made the plans and knows their inputs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "plan/text/plan_diff.h"

namespace muster {

// An input that differs: a parameter, the cluster, the text of the recipe, or another part of the call.
struct PlanCause {
  std::string kind;  // "parameter", "cluster", "recipe", "call"
  std::string name;
  std::optional<std::string> before;
  std::optional<std::string> after;
  std::string source;                // origin of the new value: "command line", "recipes/gpt.lua:12"; may be empty
  std::vector<std::string> details;  // further lines for users, such as the recipe's changed lines
  // The changes that it produces alone, if known; else `why_not` has the reason in one line, empty if it was not tried.
  std::optional<std::vector<PlanChange>> alone;
  std::string why_not;
};

// Changes with the same causes. No causes: unknown, or no cause that was tried alone produces them.
struct CausedChanges {
  std::vector<std::size_t> causes;   // indices, ascending
  std::vector<std::size_t> changes;  // indices, ascending
  bool together = false;             // none of the causes produces the changes alone

  bool operator==(const CausedChanges&) const = default;
};

// Every change is in one group, every cause in at least one; groups of single causes come first, in their order.
// Changes that no cause produces alone are attributed to the causes that could not be tried alone, or else to all of
// them together. A single cause gets all changes, tried or not.
std::vector<CausedChanges> GroupByCause(const std::vector<PlanChange>& changes, const std::vector<PlanCause>& causes);

}  // namespace muster
