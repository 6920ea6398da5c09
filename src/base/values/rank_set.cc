#include "base/values/rank_set.h"

#include <algorithm>

namespace muster {

std::optional<RankSet> RankSet::Parse(std::string_view text) {
  auto ranges = ParseNumberRanges(text);
  if (!ranges) return std::nullopt;
  RankSet set;
  set.ranges_ = *std::move(ranges);
  return set;
}

bool RankSet::Contains(std::uint32_t rank) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return range.first <= rank && rank <= range.second; });
}

}  // namespace muster
