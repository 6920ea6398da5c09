#include "cli/lookup/trial_conditions.h"

#include "cli/lookup/list_choice.h"

namespace muster {

bool TrialConditions::HoldFor(const TrialFacts& trial) {
  any_ = true;
  if (!names_.empty()) trial.AddNames(known_);
  bool hold = true;
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const RunCondition& condition = conditions_[i];
    const Value value = trial.Of(condition.name);
    if (!value.IsNull() && !asked_[i].can_be) {
      asked_[i].can_be = CanBeAsked(condition, value);
      asked_[i].example = value;
    }
    hold = hold && Holds(condition, [&](const std::string& name) { return trial.Of(name); });
  }
  return hold;
}

Result<void> TrialConditions::Check() const {
  for (const std::string& name : names_) {
    const bool prefixed = name.starts_with("param.") || name.starts_with("metric.");
    if (any_ && !known_.contains(prefixed ? name.substr(name.find('.') + 1) : name)) {
      return Fail(NoSuchColumn("trial", name, known_));
    }
  }
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    if (!asked_[i].can_be && !asked_[i].example.IsNull()) {
      return Fail(CannotBeCompared(conditions_[i], asked_[i].example));
    }
  }
  return {};
}

}  // namespace muster
