#include "leaks/nondeterminism.h"

#include <algorithm>

namespace muster {

NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const LatePlans& late) {
  const RepeatedPlan& one = plans.front();
  const bool like_others = std::all_of(plans.begin(), plans.end(), [&](const RepeatedPlan& other) {
    return other.first == one.first && other.again == one.again;
  });
  if (like_others) {
    if (one.first != one.again) return NondeterminismCause::kState;
    return late.other == one.first ? NondeterminismCause::kNo : NondeterminismCause::kClock;
  }
  const bool like_themselves =
      std::all_of(plans.begin(), plans.end(), [](const RepeatedPlan& each) { return each.first == each.again; });
  // Interpreters differ. A clock also changes the plans of one that is asked again later, however long the others took.
  return like_themselves && late.first == one.first ? NondeterminismCause::kSeed : NondeterminismCause::kClock;
}

}  // namespace muster
