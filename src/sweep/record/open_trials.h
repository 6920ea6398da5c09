// The trials of a sweep that are not over: which ones the sampler has, which are possible, and their attempts so far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "sweep/record/sweep_events.h"
#include "sweep/record/trial_set.h"

namespace muster {

class SweepProgress;

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

// Takes the entries of a journal about them, in order. `over`: the trials that are over; entries about those, and about
// trials that the sampler does not have, are ignored.
class OpenTrials {
 public:
  // A head begins: trials that its sampler does not have are dropped. If the user accepted a change of the recipe, the
  // others may have other plans than before.
  void HeadBegan(const SweepBegan& entry);
  void Judged(const PointsJudged& entry, const TrialSet& over);
  void Began(const AttemptBegan& entry, const TrialSet& over);
  void Reached(const RungReached& entry);
  // If it was the last attempt of its trial, the trial is returned and no longer open. An end that is not that of the
  // running attempt is ignored.
  std::optional<OpenTrial> Ended(const AttemptEnded& entry);
  // A trial that was over after so many attempts is retried.
  void Reopened(TrialNumber trial, std::uint32_t attempts);

  const std::map<TrialNumber, OpenTrial>& trials() const { return open_; }
  std::uint64_t sampled() const { return sampled_; }    // trials of the sampler; 0 before any head began
  TrialNumber judged_to() const { return judged_to_; }  // all below have been judged
  const TrialSet& impossible() const { return impossible_; }
  // Whether a trial with this point number (space/point.h) has begun.
  bool Knows(std::uint64_t point) const { return points_.contains(point); }
  std::uint64_t begun() const { return begun_; }        // trials
  std::uint64_t attempts() const { return attempts_; }  // of all trials, that have begun
  std::uint64_t ms() const { return ms_; }              // of all attempts that have ended

  bool operator==(const OpenTrials&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h
  bool IsTrial(TrialNumber trial) const { return sampled_ == 0 || trial < sampled_; }

  std::uint64_t sampled_ = 0;
  TrialNumber judged_to_ = 0;
  TrialSet impossible_;
  std::map<TrialNumber, OpenTrial> open_;
  boost::unordered_flat_set<std::uint64_t> points_;  // numbers of the points of trials that have begun
  std::uint64_t begun_ = 0, attempts_ = 0, ms_ = 0;
};

}  // namespace muster
