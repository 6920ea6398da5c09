// Ranks as people write them: "0-3,7". Knows numbers, not processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

class RankSet {
 public:
  // Numbers and ranges of them (both ends belong to it), separated by commas, without blanks. Nothing if the text is
  // something else, a range runs backwards, or a number is beyond 32 bits.
  static std::optional<RankSet> Parse(std::string_view text);

  bool Contains(std::uint32_t rank) const;

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;
};

}  // namespace muster
