// The trials of a sweep that are over: how they ended, how many of each class, and the best of them. Small: of each
// only its number, class and attempts are kept, and what decisions about others need.
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

// Of those that ended well; of equals the first to end.
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
  // `trial` is over with the end of its last attempt.
  void Add(const AttemptEnded& entry, OpenTrial trial);
  // Takes those of the range out; calls `reopened` with the number of each and of its attempts, ascending.
  void Remove(TrialRange range, const std::function<void(TrialNumber, std::uint32_t attempts)>& reopened);

  const TrialSet& numbers() const { return numbers_; }
  const TrialEnds& ends() const { return ends_; }
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t failed() const;  // of all classes that are failures
  // Stays the best if it is taken out.
  const std::optional<BestTrial>& best() const { return best_; }
  // With the median rule: the losses by resource of each trial that ended well.
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
