// Random points of a countable space without repetition, each choice drawn with its weight: points are drawn one after
// the other, and those that were drawn before are left out.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "space/compiled_space.h"

namespace muster {

class DistinctDraws {
 public:
  // The space is countable and must outlive this object.
  DistinctDraws(const CompiledSpace& space, std::uint64_t seed);

  // The n-th point, from 0: below the number of points of the space. The points of two parts of a union may be equal;
  // after the last distinct point the first one repeats.
  Point At(std::uint64_t number);

 private:
  struct Source {
    bool drawn = true;        // CompiledSpace::From of draw `index`, else the point …
    std::uint64_t index = 0;  // … at this place of the order of Shuffled()
  };
  Point PointOf(Source source) const;
  Source FindNext();

  const CompiledSpace* space_;
  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t draws_ = 0;     // so far
  std::uint64_t shuffled_ = 0;  // places of that order that were looked at
  std::vector<Source> sources_;
  std::unordered_set<std::string> known_;
};

}  // namespace muster
