// Where a sweep stands, from the entries of its journal: what a head needs to go on exactly, and what views show.
// A function of the entries and their order alone. Small: of a trial that is over only its number, its id and, among
// the best, its result are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "sweep/record/sweep_events.h"
#include "sweep/record/trial_ends.h"
#include "sweep/record/trial_set.h"

namespace muster {

struct OpenTrial {
  std::uint32_t attempts = 0;  // that have begun, those before it was reopened as well
  std::uint32_t counted = 0;   // ended ones that count against retry.max, since it was opened
  std::uint32_t free = 0;      // … and those that failed and do not count
  std::string id;              // these three are empty before its first attempt since it was opened
  std::string plan;            // of the first attempt: later ones must have it, too; empty after an accepted change
  Point point;
  bool running = false;  // begun and not ended: the head died, if it is not this one
  std::string run_id;    // of the last attempt
  std::vector<std::string> hosts;
  // The first of the attempts that belong together: it began from nothing, and each later one goes on from a checkpoint
  // of one before it. The next attempt may do so too if `first` < `attempts`.
  std::uint32_t first = 0;
  ResumedFrom resumed;      // of the last attempt
  std::uint64_t rungs = 0;  // that these attempts have passed

  bool operator==(const OpenTrial&) const = default;
};

// Of those that ended well; of equals the first to end.
struct BestTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double loss = 0;
  std::string id;
  Point point;

  bool operator==(const BestTrial&) const = default;
};

// In the order of the journal, those of all attempts.
struct RungReport {
  std::uint64_t rung = 0;
  TrialNumber trial = 0;
  double loss = 0;

  bool operator==(const RungReport&) const = default;
};

class SweepProgress {
 public:
  // Entries that do not fit what came before (an end without a beginning, a trial that the sampler does not have) are
  // taken as far as they make sense.
  void Take(const SweepEntry& entry);

  const std::string& sweep_id() const { return sweep_id_; }
  const std::string& name() const { return name_; }
  const std::string& recipe() const { return recipe_; }
  std::uint64_t trials() const { return trials_; }      // of the sampler
  TrialNumber judged_to() const { return judged_to_; }  // all below have been judged
  const TrialSet& impossible() const { return impossible_; }
  const TrialSet& over() const { return over_; }  // have their last attempt behind them
  // Of those.
  const TrialEnds& ends() const { return ends_; }
  // Possible, and not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_; }
  // Of trials that have begun; by these the same point is not tried twice.
  bool Knows(std::uint64_t id) const { return ids_.contains(id); }
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t failed() const;                   // of all classes that are failures
  std::uint64_t begun() const { return begun_; }  // trials
  std::uint64_t attempts() const { return attempts_; }
  const std::optional<BestTrial>& best() const { return best_; }
  const std::vector<RungReport>& rung_reports() const { return rung_reports_; }
  // With the median rule: of each trial that ended well.
  const std::map<TrialNumber, std::map<double, double>>& finished_losses() const { return finished_losses_; }
  const std::set<std::string>& quarantined() const { return quarantined_; }
  std::uint64_t trial_ms() const { return trial_ms_; }  // of all attempts that have ended
  // Why the last head left; nothing while one is at it, or if it died.
  const std::optional<SweepEnded>& ended() const { return ended_; }

  bool operator==(const SweepProgress&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h
  // The sampler has it; before any head said how many it has, every number.
  bool IsTrial(TrialNumber trial) const { return trials_ == 0 || trial < trials_; }
  void Taken(const SweepBegan& entry);
  void Judged(const PointsJudged& entry);
  void Began(const AttemptBegan& entry);
  void Ended(const AttemptEnded& entry);
  void Reopened(const TrialsReopened& entry);

  std::string sweep_id_, name_, recipe_;
  std::uint64_t trials_ = 0;
  TrialNumber judged_to_ = 0;
  TrialSet impossible_, over_;
  TrialEnds ends_;
  std::map<TrialNumber, OpenTrial> open_;
  boost::unordered_flat_set<std::uint64_t> ids_;
  std::array<std::uint64_t, kTrialClassNames.size()> counts_ = {};
  std::uint64_t begun_ = 0, attempts_ = 0, trial_ms_ = 0;
  std::optional<BestTrial> best_;
  std::vector<RungReport> rung_reports_;
  std::map<TrialNumber, std::map<double, double>> finished_losses_;
  std::set<std::string> quarantined_;
  std::optional<SweepEnded> ended_;
};

// "running", "complete", "left" or "lost": its head died. `live`: a head is at the sweep.
std::string SweepState(const SweepProgress& account, bool live);

}  // namespace muster
