#include "run/rank_set.h"

#include <algorithm>
#include <charconv>

namespace muster {

std::optional<RankSet> RankSet::Parse(std::string_view text) {
  RankSet set;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::uint32_t& into) {
    const auto [after, error] = std::from_chars(at, end, into);
    at = after;
    return error == std::errc();
  };
  for (;;) {
    std::pair<std::uint32_t, std::uint32_t> range;
    if (!number(range.first)) return std::nullopt;
    range.second = range.first;
    if (at != end && *at == '-') {
      ++at;
      if (!number(range.second) || range.second < range.first) return std::nullopt;
    }
    set.ranges_.push_back(range);
    if (at == end) return set;
    if (*at++ != ',') return std::nullopt;
  }
}

bool RankSet::Contains(std::uint32_t rank) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return range.first <= rank && rank <= range.second; });
}

}  // namespace muster
