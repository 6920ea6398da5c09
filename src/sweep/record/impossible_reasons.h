// Why the points of a sweep are impossible, if no possible one has been found: the first few different reasons, for the
// summary of a sweep without trials.
#pragma once

#include <string>
#include <vector>

#include "sweep/record/sweep_events.h"

namespace muster {

class ImpossibleReasons {
 public:
  void Keep(const PointsJudged& judged);
  // "no point is possible: …": one line; without reasons if none was stored, as in a resumed sweep.
  std::string Text() const;

 private:
  std::vector<std::string> reasons_;  // in the order of the points
};

}  // namespace muster
