#include "sweep/scheduler/retry_rule.h"

#include <algorithm>

namespace muster {
namespace {

bool IsNotItsFault(TrialClass trial_class) {
  return trial_class == TrialClass::kHostLost || trial_class == TrialClass::kPreempted;
}

// Whether another attempt would fail in the same way.
bool IsSureToRecur(TrialClass trial_class) {
  return trial_class == TrialClass::kDiverged || trial_class == TrialClass::kUserError ||
         trial_class == TrialClass::kNoResult;
}

}  // namespace

RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted,
                          std::uint32_t free) {
  if (!IsFailure(trial_class)) return {};
  if (IsNotItsFault(trial_class) && free < kMostUncounted) return {true, false};
  const bool wanted = choice.on.empty() ? !IsSureToRecur(trial_class)
                                        : std::find(choice.on.begin(), choice.on.end(), trial_class) != choice.on.end();
  return {wanted && counted < choice.max, true};
}

}  // namespace muster
