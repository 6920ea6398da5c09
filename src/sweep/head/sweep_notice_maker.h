// Maps what happens in a sweep to notices. Pure: no processes, files or clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/notify/notifier.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/trial_progress.h"

namespace muster {

class SweepNoticeMaker {
 public:
  // Both must outlive it. `folder`: of the sweep.
  SweepNoticeMaker(const SweepDescription& sweep, const SweepProgress& account, std::string folder);

  // The notices that follow from the entry, which the account does not have yet. `seconds`: since this head began.
  std::vector<Notice> Saw(const SweepEntry& entry, double seconds);
  // The first report of any trial, unless the sweep had results before this head.
  std::optional<Notice> Reported(TrialNumber trial, const MetricReport& report, double seconds);
  // The best result so far, if the account has another one than at the last call.
  std::optional<Notice> NewBest(double seconds);

 private:
  Notice Ended(const SweepEnded& entry, NotifyEvent event, double seconds) const;
  Notice TrialFailed(const AttemptEnded& entry) const;

  const SweepDescription& sweep_;
  const SweepProgress& account_;
  const std::string folder_;
  std::optional<BestTrial> best_;
  bool reported_ = false;
};

// Adds the best trial and the numbers of trials, as the account has them now.
void AddState(const SweepDescription& sweep, const SweepProgress& account, std::uint64_t running,
              const std::string& folder, Notice& notice);

}  // namespace muster
