// Early stopping: which trials are stopped, based on the losses that they report. Decisions depend only on the order of
// the reports, so replaying a journal of reports gives the same decisions. A loss is a finite number; smaller is
// better.
#pragma once

#include <cstddef>

namespace muster {

// A decision with all values that it is based on.
struct StopDecision {
  std::size_t rung = 0;       // from 0
  std::size_t results = 0;    // at this rung, including this one
  std::size_t rank = 0;       // of this one among them, from 1; of equal losses the earlier is the better
  std::size_t threshold = 0;  // trials with ranks up to this one continue
  bool stop = false;

  bool operator==(const StopDecision&) const = default;
};

}  // namespace muster
