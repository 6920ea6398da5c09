#include "leaks/unsteady.h"

#include <algorithm>
#include <vector>

namespace muster {
namespace {

// Whether the differences fit a clock of whole seconds: each plan stays the same for a while and never returns, and the
// late one is new. Random choices seldom give the same plan to neighbours only.
bool ChangeWithTime(std::span<const TwicePlanned> plans, const std::string& late) {
  std::vector<std::string> seen = {plans.front().first};
  for (const TwicePlanned& plan : plans) {
    if (plan.first == seen.back()) continue;
    if (std::find(seen.begin(), seen.end(), plan.first) != seen.end()) return false;
    seen.push_back(plan.first);
  }
  return seen.size() <= plans.size() / 2 && std::find(seen.begin(), seen.end(), late) == seen.end();
}

}  // namespace

Unsteady JudgeRepeats(std::span<const TwicePlanned> plans, const std::string& late) {
  const TwicePlanned& one = plans.front();
  const bool like_others = std::all_of(plans.begin(), plans.end(), [&](const TwicePlanned& other) {
    return other.first == one.first && other.again == one.again;
  });
  if (like_others) {
    if (one.first != one.again) return Unsteady::kState;
    return late == one.first ? Unsteady::kNo : Unsteady::kClock;
  }
  const bool like_themselves =
      std::all_of(plans.begin(), plans.end(), [](const TwicePlanned& each) { return each.first == each.again; });
  return like_themselves && !ChangeWithTime(plans, late) ? Unsteady::kSeed : Unsteady::kClock;
}

}  // namespace muster
