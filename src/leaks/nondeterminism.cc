#include "leaks/nondeterminism.h"

#include <algorithm>
#include <vector>

namespace muster {
namespace {

// Whether the differences fit a clock of whole seconds: each plan stays the same for a while and never returns, and the
// late one is new. Random choices seldom give the same plan in consecutive evaluations only.
bool ChangeWithTime(std::span<const RepeatedPlan> plans, const std::string& late) {
  std::vector<std::string> seen = {plans.front().first};
  for (const RepeatedPlan& plan : plans) {
    if (plan.first == seen.back()) continue;
    if (std::find(seen.begin(), seen.end(), plan.first) != seen.end()) return false;
    seen.push_back(plan.first);
  }
  return seen.size() <= plans.size() / 2 && std::find(seen.begin(), seen.end(), late) == seen.end();
}

}  // namespace

NondeterminismCause JudgeRepeats(std::span<const RepeatedPlan> plans, const std::string& late) {
  const RepeatedPlan& one = plans.front();
  const bool like_others = std::all_of(plans.begin(), plans.end(), [&](const RepeatedPlan& other) {
    return other.first == one.first && other.again == one.again;
  });
  if (like_others) {
    if (one.first != one.again) return NondeterminismCause::kState;
    return late == one.first ? NondeterminismCause::kNo : NondeterminismCause::kClock;
  }
  const bool like_themselves =
      std::all_of(plans.begin(), plans.end(), [](const RepeatedPlan& each) { return each.first == each.again; });
  return like_themselves && !ChangeWithTime(plans, late) ? NondeterminismCause::kSeed : NondeterminismCause::kClock;
}

}  // namespace muster
