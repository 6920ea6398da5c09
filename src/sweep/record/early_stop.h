// Which trials are stopped before their end, seen from the losses that they report. Decisions depend on the order of
// the reports and on nothing else, so a journal of reports gives the same decisions again. A loss is a finite number,
// the smaller the better.
#pragma once

#include <cstddef>

namespace muster {

// What was decided, with everything that it was decided by.
struct StopDecision {
  std::size_t rung = 0;       // from 0
  std::size_t results = 0;    // at this rung, this one included
  std::size_t rank = 0;       // of this one among them, from 1; of equal losses the earlier is the better
  std::size_t threshold = 0;  // ranks up to it go on
  bool stop = false;

  bool operator==(const StopDecision&) const = default;
};

}  // namespace muster
