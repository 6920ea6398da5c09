// --where for the trials of a sweep: which of them conditions select, and whether their names and values make sense for
// any. Reads the facts of the trials that it is given.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/lookup/run_conditions.h"
#include "cli/lookup/trial_facts.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

class TrialConditions {
 public:
  // `names`: what else the command uses of each trial.
  explicit TrialConditions(std::vector<RunCondition> conditions, std::vector<std::string> names = {})
      : conditions_(std::move(conditions)), names_(std::move(names)), asked_(conditions_.size()) {
    for (const RunCondition& condition : conditions_) names_.push_back(condition.name);
  }

  // Whether all conditions hold for the trial, which Check() then knows.
  bool HoldFor(const TrialFacts& trial);
  // After all trials of the sweep: fails if none of them has a value of one of the names, or if a condition cannot be
  // asked of any value. A sweep without trials fails nothing.
  [[nodiscard]] Result<void> Check() const;

 private:
  // What the trials so far have for a condition.
  struct Asked {
    bool can_be = false;
    Value example;
  };

  std::vector<RunCondition> conditions_;
  std::vector<std::string> names_;
  std::vector<Asked> asked_;
  std::set<std::string> known_;
  bool any_ = false;
};

}  // namespace muster
