// Where a sweep stands, from the entries of its journal: what a head needs to go on exactly, and what views show.
// A function of the entries and their order alone. Its parts own the state of trials: those that are not over
// (open_trials.h), and those that are (finished_trials.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sweep/record/finished_trials.h"
#include "sweep/record/open_trials.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/trial_ends.h"
#include "sweep/record/trial_set.h"

namespace muster {

// In the order of the journal, those of all attempts.
struct RungReport {
  std::uint64_t rung = 0;
  TrialNumber trial = 0;
  double loss = 0;

  bool operator==(const RungReport&) const = default;
};

class SweepProgress {
 public:
  // Entries that contradict earlier ones (an end without a beginning, a trial that the sampler does not have) are
  // applied as far as possible.
  void Take(const SweepEntry& entry);

  const std::string& sweep_id() const { return sweep_id_; }
  const std::string& name() const { return name_; }
  const std::string& recipe() const { return recipe_; }

  // Trials of the sampler.
  std::uint64_t trials() const { return open_.sampled(); }
  // All trials below have been judged.
  TrialNumber judged_to() const { return open_.judged_to(); }
  const TrialSet& impossible() const { return open_.impossible(); }
  // Possible, and not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_.trials(); }
  // Whether a trial with this point number has begun; by these the same point is not tried twice.
  bool Knows(std::uint64_t point) const { return open_.Knows(point); }
  std::uint64_t begun() const { return open_.begun(); }  // trials
  std::uint64_t attempts() const { return open_.attempts(); }
  // Of all attempts that have ended.
  std::uint64_t trial_ms() const { return open_.ms(); }

  // Trials that have their last attempt behind them.
  const TrialSet& over() const { return finished_.numbers(); }
  const TrialEnds& ends() const { return finished_.ends(); }
  std::uint64_t count(TrialClass trial_class) const { return finished_.count(trial_class); }
  // Of all classes that are failures.
  std::uint64_t failed() const { return finished_.failed(); }
  const std::optional<BestTrial>& best() const { return finished_.best(); }
  // With the median rule: of each trial that ended well.
  const std::map<TrialNumber, std::map<double, double>>& finished_losses() const { return finished_.losses(); }

  const std::vector<RungReport>& rung_reports() const { return rung_reports_; }
  const std::set<std::string>& quarantined() const { return quarantined_; }
  // Why the last head left; nothing while one is at it, or if it died.
  const std::optional<SweepEnded>& ended() const { return ended_; }

  bool operator==(const SweepProgress&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h

  std::string sweep_id_, name_, recipe_;
  OpenTrials open_;
  FinishedTrials finished_;
  std::vector<RungReport> rung_reports_;
  std::set<std::string> quarantined_;
  std::optional<SweepEnded> ended_;
};

// "running", "complete", "left" or "lost" (its head died). `live`: a head is running.
std::string SweepState(const SweepProgress& account, bool live);

}  // namespace muster
