// Where a sweep stands, from the entries of its journal: what a head needs to go on exactly, and what views show.
// A function of the entries and their order alone. Small: of a trial that is over only its number, its id and, among
// the best, its result are kept.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "sweep/sweep_events.h"

namespace muster {

// Numbers as ranges; made for numbers that come nearly in order.
class TrialSet {
 public:
  void Add(TrialNumber trial);
  void Add(TrialRange range);
  void Remove(TrialNumber trial);
  bool Has(TrialNumber trial) const;
  std::uint64_t size() const { return size_; }
  std::vector<TrialRange> ranges() const;

 private:
  std::map<TrialNumber, TrialNumber> ranges_;  // first to last
  std::uint64_t size_ = 0;
};

struct OpenTrial {
  std::uint32_t attempts = 0;  // that have begun
  std::uint32_t counted = 0;   // ended ones that count against retry.max
  std::string id;              // empty before the first attempt
  std::string plan;            // of the first attempt: later ones must have it, too
  bool running = false;        // begun and not ended: the head died, if it is not this one
  std::string run_id;          // of the last attempt
  std::vector<std::string> hosts;
};

struct BestTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double loss = 0;
  std::string id;
  Point point;
};

class SweepAccount {
 public:
  // Entries that do not fit what came before (an end without a beginning) are taken as far as they make sense.
  void Take(const SweepEntry& entry);

  const std::string& sweep_id() const { return sweep_id_; }
  const std::string& name() const { return name_; }
  const std::string& recipe() const { return recipe_; }
  std::uint64_t trials() const { return trials_; }      // of the sampler
  TrialNumber judged_to() const { return judged_to_; }  // all below have been judged
  const TrialSet& impossible() const { return impossible_; }
  const TrialSet& over() const { return over_; }  // have their last attempt behind them
  // Possible, and not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_; }
  // Of trials that have begun; by these the same point is not tried twice.
  bool Knows(std::uint64_t id) const { return ids_.contains(id); }
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t begun() const { return begun_; }  // trials
  std::uint64_t attempts() const { return attempts_; }
  const std::optional<BestTrial>& best() const { return best_; }
  const std::vector<std::pair<std::size_t, double>>& rung_reports() const { return rung_reports_; }
  // With the median rule: of each trial that ended well.
  const std::vector<std::map<double, double>>& finished_losses() const { return finished_losses_; }
  const std::set<std::string>& quarantined() const { return quarantined_; }
  std::uint64_t trial_ms() const { return trial_ms_; }  // of all attempts that have ended
  const std::optional<SweepEnded>& ended() const { return ended_; }

 private:
  friend class SweepIndex;
  std::string sweep_id_, name_, recipe_;
  std::uint64_t trials_ = 0;
  TrialNumber judged_to_ = 0;
  TrialSet impossible_, over_;
  std::map<TrialNumber, OpenTrial> open_;
  std::unordered_set<std::uint64_t> ids_;
  std::array<std::uint64_t, kTrialClassNames.size()> counts_ = {};
  std::uint64_t begun_ = 0, attempts_ = 0, trial_ms_ = 0;
  std::optional<BestTrial> best_;
  std::vector<std::pair<std::size_t, double>> rung_reports_;
  std::vector<std::map<double, double>> finished_losses_;
  std::set<std::string> quarantined_;
  std::optional<SweepEnded> ended_;
};

}  // namespace muster
