#include "leaks/unsteady.h"

#include <algorithm>

namespace muster {

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
  return like_themselves ? Unsteady::kSeed : Unsteady::kClock;
}

}  // namespace muster
