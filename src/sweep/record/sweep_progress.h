// The progress of a sweep, computed from the entries of its journal: what a head needs to continue exactly, and what
// views show. Depends only on the entries and their order. Its parts own the state of trials: open ones
// (open_trials.h) and finished ones (finished_trials.h).
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

  // Number of trials of the sampler.
  std::uint64_t trials() const { return open_.sampled(); }
  // All trials below it have been judged.
  TrialNumber judged_to() const { return open_.judged_to(); }
  const TrialSet& impossible() const { return open_.impossible(); }
  // Possible trials that are not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_.trials(); }
  // Whether a trial with this point number has begun; keeps the same point from being run twice.
  bool Knows(std::uint64_t point) const { return open_.Knows(point); }
  std::uint64_t begun() const { return open_.begun(); }  // number of trials
  std::uint64_t attempts() const { return open_.attempts(); }
  // Run time of all attempts that have ended.
  std::uint64_t trial_ms() const { return open_.ms(); }

  // Trials whose last attempt has ended.
  const TrialSet& over() const { return finished_.numbers(); }
  // How these ended.
  const TrialEnds& ends() const { return finished_.ends(); }
  std::uint64_t count(TrialClass trial_class) const { return finished_.count(trial_class); }
  // Number of trials of all failure classes.
  std::uint64_t failed() const { return finished_.failed(); }
  const std::optional<BestTrial>& best() const { return finished_.best(); }
  // With the median rule: of each trial that succeeded.
  const std::map<TrialNumber, std::map<double, double>>& finished_losses() const { return finished_.losses(); }

  const std::vector<RungReport>& rung_reports() const { return rung_reports_; }
  const std::set<std::string>& quarantined() const { return quarantined_; }
  // The limits that users have set since the sweep was described: the latest of each.
  const SweepSteered& steered() const { return steered_; }
  // Why the last head stopped; nothing while one is running, or if it died.
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
  SweepSteered steered_;
  std::optional<SweepEnded> ended_;
};

// Numbers of trials.
struct TrialCounts {
  std::uint64_t possible = 0;  // those of the sampler, without those found impossible so far
  std::uint64_t over = 0;
  std::uint64_t failed = 0;   // of these
  std::uint64_t running = 0;  // none if no head is running
  std::uint64_t waiting = 0;  // possible, neither over nor running
  std::uint64_t impossible = 0;
};
TrialCounts CountsOf(const SweepProgress& account, bool live);

// How many trials may be started in all, by the description or a user's later change; nothing: there is no limit.
std::optional<std::uint64_t> MostTrials(const SweepProgress& account, const BudgetChoice& budget);

// "running", "complete", "stopped" or "lost" (its head died). `live`: a head is running.
std::string SweepState(const SweepProgress& account, bool live);

}  // namespace muster
