// The finished trials of a sweep: how they ended, how many of each class, and the best one. Small: of each trial only
// the number, the class and the number of attempts are stored and, with the median rule, the losses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sweep/record/open_trials.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/trial_ends.h"
#include "sweep/record/trial_set.h"

namespace muster {

// Of the trials that succeeded; of equal ones the first to end.
struct BestTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double loss = 0;
  std::string id;
  Point point;

  bool operator==(const BestTrial&) const = default;
};

class FinishedTrials {
 public:
  // Adds `trial`, whose last attempt ended with `entry`.
  void Add(const AttemptEnded& entry, OpenTrial trial);
  // Removes the finished trials of the range; calls `reopened` for each, ascending.
  void Remove(TrialRange range, const std::function<void(TrialNumber, TrialEnds::End)>& reopened);

  const TrialSet& numbers() const { return numbers_; }
  const TrialEnds& ends() const { return ends_; }
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t failed() const;  // number of trials of all failure classes
  // Remove() does not change it.
  const std::optional<BestTrial>& best() const { return best_; }
  // With the median rule: the losses, by resource, of each trial that succeeded.
  const std::map<TrialNumber, std::map<double, double>>& losses() const { return losses_; }

  bool operator==(const FinishedTrials&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h

  TrialSet numbers_;
  TrialEnds ends_;
  std::array<std::uint64_t, kTrialClassNames.size()> counts_ = {};
  std::optional<BestTrial> best_;
  std::map<TrialNumber, std::map<double, double>> losses_;
};

}  // namespace muster
