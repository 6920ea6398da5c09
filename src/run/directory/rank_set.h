// Ranks as people write them: "0-3,7". Knows numbers, not processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/values/number_list.h"

namespace muster {

class RankSet {
 public:
  // Nothing for what ParseNumberRanges refuses.
  static std::optional<RankSet> Parse(std::string_view text);

  bool Contains(std::uint32_t rank) const;

 private:
  std::vector<NumberRange> ranges_;
};

}  // namespace muster
