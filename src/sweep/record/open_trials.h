// The open trials of a sweep and their attempts so far; also which trials have been judged, and which are impossible.
#pragma once

#include <algorithm>
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
  // If it was finished before: the class of the attempt that it keeps (sweep/record/trial_result.h).
  std::optional<TrialClass> kept;

  bool operator==(const OpenTrial&) const = default;
};

// Call with the entries of the journal about trials, in order. `over`: the finished trials; entries about those, and
// about trials that the sampler does not have, are ignored.
class OpenTrials {
 public:
  // A head starts: drops the trials that its sampler does not have. If the user accepted a change of the recipe, the
  // plans of the others may differ from those of their first attempts.
  void HeadBegan(const SweepBegan& entry);
  // The sampler of this head has more trials now.
  void Extended(std::uint64_t trials) { sampled_ = std::max(sampled_, trials); }
  void Judged(const PointsJudged& entry, const TrialSet& over);
  void Began(const AttemptBegan& entry, const TrialSet& over);
  void Reached(const RungReached& entry);
  // Returns the trial if this was its last attempt; it is no longer open then. An entry that does not end the running
  // attempt is ignored.
  std::optional<OpenTrial> Ended(const AttemptEnded& entry);
  // A finished trial is retried; `attempts` of it have begun before, and one of class `kept` is its result.
  void Reopened(TrialNumber trial, std::uint32_t attempts, TrialClass kept);

  const std::map<TrialNumber, OpenTrial>& trials() const { return open_; }
  std::uint64_t sampled() const { return sampled_; }    // number of trials of the sampler; 0 before the first head
  TrialNumber judged_to() const { return judged_to_; }  // all trials below it have been judged
  const TrialSet& impossible() const { return impossible_; }
  // Whether a trial with this point number (space/point.h) has begun; keeps the same point from being run twice.
  bool Knows(std::uint64_t point) const { return points_.contains(point); }
  std::uint64_t begun() const { return begun_; }        // number of trials
  std::uint64_t attempts() const { return attempts_; }  // number of attempts that have begun
  std::uint64_t ms() const { return ms_; }              // run time of all attempts that have ended

  bool operator==(const OpenTrials&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& account);  // sweep/record/sweep_progress_archive.h
  // Whether the sampler has it; true for all numbers as long as its size is unknown.
  bool IsTrial(TrialNumber trial) const { return sampled_ == 0 || trial < sampled_; }

  std::uint64_t sampled_ = 0;
  TrialNumber judged_to_ = 0;
  TrialSet impossible_;
  std::map<TrialNumber, OpenTrial> open_;
  boost::unordered_flat_set<std::uint64_t> points_;  // point numbers of trials that have begun
  std::uint64_t begun_ = 0, attempts_ = 0, ms_ = 0;
};

}  // namespace muster
