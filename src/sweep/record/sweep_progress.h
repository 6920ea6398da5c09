// The progress of a sweep, computed from the entries of its journal: what a head needs to continue exactly, and what
// views show. Depends only on the entries and their order. Small: of finished trials only the number, the id and, for
// the best ones, the result are stored.
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
  std::uint32_t attempts = 0;  // that have begun, including those before it was reopened
  std::uint32_t counted = 0;   // that have ended and count against retry.max, since it was opened
  std::uint32_t free = 0;      // that failed and do not count
  std::string id;              // these three are empty before the first attempt since it was opened
  std::string plan;            // of the first attempt, required of later ones; empty after an accepted change
  Point point;
  bool running = false;  // begun and not ended: if not in this head, then its head died
  std::string run_id;    // of the last attempt
  std::vector<std::string> hosts;
  // The first of the attempts that belong together: it started without a checkpoint, and each later one continued from
  // a checkpoint of an earlier one. The next attempt may do so too if `first` < `attempts`.
  std::uint32_t first = 0;
  ResumedFrom resumed;      // of the last attempt
  std::uint64_t rungs = 0;  // that these attempts have reached

  bool operator==(const OpenTrial&) const = default;
};

// Of the trials that succeeded; of equal ones the first to end.
struct BestTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double loss = 0;
  std::string id;
  Point point;

  bool operator==(const BestTrial&) const = default;
};

// Reports of all attempts, in the order of the journal.
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
  std::uint64_t trials() const { return trials_; }      // number of trials of the sampler
  TrialNumber judged_to() const { return judged_to_; }  // all trials below it have been judged
  const TrialSet& impossible() const { return impossible_; }
  const TrialSet& over() const { return over_; }  // trials whose last attempt has ended
  // How these ended.
  const TrialEnds& ends() const { return ends_; }
  // Possible trials that are not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_; }
  // Whether a trial with this id has begun; keeps the same point from being run twice.
  bool Knows(std::uint64_t id) const { return ids_.contains(id); }
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t failed() const;                   // number of trials of all failure classes
  std::uint64_t begun() const { return begun_; }  // number of trials
  std::uint64_t attempts() const { return attempts_; }
  const std::optional<BestTrial>& best() const { return best_; }
  const std::vector<RungReport>& rung_reports() const { return rung_reports_; }
  // With the median rule: of each trial that succeeded.
  const std::map<TrialNumber, std::map<double, double>>& finished_losses() const { return finished_losses_; }
  const std::set<std::string>& quarantined() const { return quarantined_; }
  std::uint64_t trial_ms() const { return trial_ms_; }  // run time of all attempts that have ended
  // Why the last head stopped; nothing while one is running, or if it died.
  const std::optional<SweepEnded>& ended() const { return ended_; }

  bool operator==(const SweepProgress&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h
  // Whether the sampler has it; true for all numbers as long as its size is unknown.
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

// "running", "complete", "left" or "lost" (its head died). `live`: a head is running.
std::string SweepState(const SweepProgress& account, bool live);

}  // namespace muster
