// Sets of ranks as users write them: "0-3,7". Depends on numbers only, not on processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/values/number_text.h"

namespace muster {

class RankSet {
 public:
  // Empty if ParseNumberRanges refuses the text.
  static std::optional<RankSet> Parse(std::string_view text);

  bool Contains(std::uint32_t rank) const;

 private:
  std::vector<NumberRange> ranges_;
};

}  // namespace muster
