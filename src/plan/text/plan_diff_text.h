// The difference of two plans as text for users and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/text/caused_changes.h"

namespace muster {

struct DiffedSide {
  std::string name;     // as the user named it: "recipes/gpt.lua lr=0.2", "gpt~1"
  std::string plan_id;  // the full id
};

// A final metric of the two, if they are runs.
struct DiffedMetric {
  std::string name;  // "worker.loss"
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};
};

struct PlanDifference {
  DiffedSide a;
  DiffedSide b;
  std::vector<PlanCause> causes;
  std::vector<PlanChange> changes;
  std::vector<std::string> notes;  // one line each: questions that could not be answered
  bool of_processes = false;       // compares two processes of one plan
  std::vector<DiffedMetric> metrics = {};
};

// Whether both plans would run the same.
bool IsSamePlan(const PlanDifference& diff);

// "1 parameter differs, hence 2 derived values, hence 3 variables of 8 processes".
std::string DiffSummary(const PlanDifference& diff);

// A summary, then each cause with the changes that follow from it. Safe for a terminal.
std::string DiffText(const PlanDifference& diff);

// A line for each of the first changes: "command --seed: 17 → 42 (worker 0-7)"; a last line counts the others. Safe for
// a terminal.
std::vector<std::string> ChangeLines(const std::vector<PlanChange>& changes, std::size_t most);

// {"format": 1, "same_plan": …, …}: docs/explain.md.
std::string DiffJson(const PlanDifference& diff);

}  // namespace muster
