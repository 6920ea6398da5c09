// Why the points of a sweep are impossible, as long as none of them was tried: the first few different reasons, which
// is what there is to say of a sweep without a trial.
#pragma once

#include <string>
#include <vector>

#include "sweep/record/sweep_events.h"

namespace muster {

class ImpossibleReasons {
 public:
  void Keep(const PointsJudged& judged);
  // "no point is possible: …": one line; without the reasons if none was kept, as in a sweep that was resumed.
  std::string Text() const;

 private:
  std::vector<std::string> reasons_;  // in the order of the points
};

}  // namespace muster
