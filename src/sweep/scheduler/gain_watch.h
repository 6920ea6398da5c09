// Says when a sweep is expected to find nothing better any more, by the results so far (space/regret_bound.h). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "space/regret_bound.h"
#include "space/space.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// Results are those of trials that succeeded; of repeated points the mean or median of all that succeeded so far. The
// question is asked after 20 results, and again whenever there are a tenth more, up to 500 results.
class GainWatch {
 public:
  // `sweep` must outlive it.
  explicit GainWatch(const SweepDescription& sweep);

  // Whether the question makes sense: there is one objective.
  bool asks() const { return space_ != nullptr; }
  // The entries of the journal in their order, those of earlier heads as well.
  void Take(const SweepEntry& entry);
  // Whether as many results have come since the last question as are needed for the next one.
  bool IsDue() const { return asks() && points_.size() >= next_; }
  // The answer, if it is that no gain above the noise is expected. Then, and else, the next question is later.
  std::optional<NoGainExpected> Ask();

 private:
  struct Known {
    Point point;
    std::map<TrialNumber, double> losses;
  };

  const SweepDescription* sweep_;
  std::unique_ptr<const CompiledSpace> space_;  // of points without seeds
  std::map<TrialNumber, Point> running_;
  std::map<std::string, std::size_t> places_;  // by the text of the point
  std::vector<Known> points_;
  std::size_t next_ = kMinRegretResults;
};

}  // namespace muster
