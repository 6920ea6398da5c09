// The progress of a sweep, computed from the entries of its journal: its open and finished trials, how they ended,
// their results, and the best one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "space/group_statistics.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// A set of trials by number.

// Numbers stored as ranges; efficient for numbers that arrive almost in order.
class TrialSet {
 public:
  void Add(TrialNumber trial);
  void Add(TrialRange range);
  void Remove(TrialNumber trial);
  bool Has(TrialNumber trial) const;
  std::uint64_t size() const { return size_; }
  std::vector<TrialRange> ranges() const;

  bool operator==(const TrialSet&) const = default;

 private:
  std::map<TrialNumber, TrialNumber> ranges_;  // first to last
  std::uint64_t size_ = 0;
};

// How the trials of a sweep ended.

// How each finished trial ended, in a few bytes each.
class TrialEnds {
 public:
  struct End {
    TrialClass trial_class = TrialClass::kOk;
    std::uint32_t attempts = 0;  // at most 2^28 - 1
    bool operator==(const End&) const = default;
  };
  void Set(TrialNumber trial, End end);
  std::optional<End> Of(TrialNumber trial) const;
  // Removes the trials of the range; `take` is called for each.
  void Remove(TrialRange range, const std::function<void(TrialNumber, End)>& take);
  void ForEach(const std::function<void(TrialNumber, End)>& take) const;  // ascending

  bool operator==(const TrialEnds&) const = default;

 private:
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<std::uint32_t, kChunk>;  // attempts and class; 0: not finished
  std::map<TrialNumber, Chunk> chunks_;             // by trial / kChunk
};

// The result of a trial. Each of its attempts may end with a value, but a trial has one: that of the attempt which it
// keeps. Rankings, tables, pages, exports and counts are about this attempt.

// What decides which attempt is kept.
struct AttemptOutcome {
  bool ended = false;
  bool interrupted = false;  // AttemptEnded
  TrialClass trial_class = TrialClass::kOk;
  std::optional<double> loss = {};
};

AttemptOutcome OutcomeOf(const AttemptEnded& end);

// The loss that the attempt gives its trial: one that succeeded, even if it violates a constraint, or that early
// stopping ended. What a failed or an
// interrupted one reported last is not a result.
std::optional<double> ResultOf(const AttemptOutcome& attempt);

// Whether the trial keeps `later` instead of `earlier`, both of the same trial. The best of the attempts that succeeded
// is kept, of equal ones the first; without one, the last that early stopping ended or that violates a constraint;
// without that, the last.
bool IsKeptInstead(const AttemptOutcome& later, const AttemptOutcome& earlier);

// How a trial stands.
struct TrialStanding {
  bool over = false;                        // no further attempt follows
  bool latest_ended = false;                // its latest attempt has ended,
  bool latest_interrupted = false;          // and how
  TrialClass kept_class = TrialClass::kOk;  // of the attempt that it keeps, if that has ended
  bool paused = false;                      // over, and early stopping may let it continue

  // "paused", or the class of the attempt that it keeps; if it is not over, "running", "again" (it failed and is
  // retried) or "interrupted"; or "lost": it was running when the head was killed. `live`: a head is running.
  std::string State(bool live) const;
};

// As IsKeptInstead for trials whose losses do not matter: the class of the kept one of two.
TrialClass KeptClass(TrialClass later, TrialClass earlier);

// The open trials of a sweep and their attempts so far; also which trials have been judged, and which are impossible.

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
  std::uint32_t devices = 0;  // that the last attempt holds
  // The first of the attempts that belong together: it started without a checkpoint, and each later one continued from
  // a checkpoint of an earlier one. The next attempt may do so too if `first` < `attempts`.
  std::uint32_t first = 0;
  ResumedFrom resumed;      // of the last attempt
  std::uint64_t rungs = 0;  // that these attempts have reached
  std::uint64_t pause = 0;  // the rung, from 1, at which the last attempt was paused; 0: at none
  bool promoted = false;    // from that rung its next attempt, which has not begun, continues
  // If it was finished before: the class of the attempt that it keeps.
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
  // The sampler is another one: `entry.trials` are those of it and the ones before. As for HeadBegan() if the recipe is
  // another one, too.
  void Edited(const SweepEdited& entry);
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

  // Trials that have not begun are impossible from now on, or are to be tried after all.
  void Skip(const std::vector<TrialRange>& trials);
  void Restore(const std::vector<TrialRange>& trials, const TrialSet& over);
  // A paused trial continues: `paused` is how it was when its last attempt ended.
  void Promoted(const TrialPromoted& entry, OpenTrial paused);

  const std::map<TrialNumber, OpenTrial>& trials() const { return open_; }
  std::uint64_t sampled() const { return sampled_; }    // number of trials of the sampler; 0 before the first head
  TrialNumber judged_to() const { return judged_to_; }  // all trials below it have been judged
  const TrialSet& impossible() const { return impossible_; }
  // Whether a trial with this point number (space/space.h) has begun; keeps the same point from being run twice.
  bool Knows(std::uint64_t point) const { return points_.contains(point); }
  std::uint64_t begun() const { return begun_; }          // number of trials
  std::uint64_t attempts() const { return attempts_; }    // number of attempts that have begun
  std::uint64_t ms() const { return ms_; }                // run time of all attempts that have ended
  std::uint64_t device_ms() const { return device_ms_; }  // DeviceMs() of these

  bool operator==(const OpenTrials&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& progress);  // sweep/index/sweep_index.h
  // Whether the sampler has it; true for all numbers as long as its size is unknown.
  bool IsTrial(TrialNumber trial) const { return sampled_ == 0 || trial < sampled_; }

  std::uint64_t sampled_ = 0;
  TrialNumber judged_to_ = 0;
  TrialSet impossible_;
  std::map<TrialNumber, OpenTrial> open_;
  boost::unordered_flat_set<std::uint64_t> points_;  // point numbers of trials that have begun
  std::uint64_t begun_ = 0, attempts_ = 0, ms_ = 0, device_ms_ = 0;
};

// The finished trials of a sweep: how they ended, how many of each class, and the best one. Small: of each trial only
// the number, the class and the number of attempts are stored and, with the median rule, the losses.

// Of the trials that succeeded; of equal ones the first to end. Of repeated points the best point, all of whose
// repetitions have succeeded: its best trial, and the loss of all together.
struct BestTrial {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double loss = 0;
  std::string id;
  Point point;
  std::uint64_t repeats = 1;
  double deviation = 0;  // of the losses of the repetitions

  bool operator==(const BestTrial&) const = default;
};

// The repetitions of one point that have succeeded.
struct RepeatedPoint {
  struct Result {
    double loss = 0;
    std::uint32_t attempt = 0;
    std::string id;
    bool operator==(const Result&) const = default;
  };
  std::map<TrialNumber, Result> results;

  bool operator==(const RepeatedPoint&) const = default;
};
// The mean or median of losses, and their standard deviation.
double LossOfAll(const RepeatedPoint& point, bool median);
double DeviationOf(const RepeatedPoint& point);

class FinishedTrials {
 public:
  void HeadBegan(const SweepBegan& entry) { seeds_ = entry.seeds; }
  void Edited(const SweepEdited& entry) { seeds_ = entry.seeds; }
  // Adds `trial`, whose last attempt ended with `entry`.
  void Add(const AttemptEnded& entry, OpenTrial trial);
  // Removes the finished trials of the range; calls `reopened` for each, ascending.
  void Remove(TrialRange range, const std::function<void(TrialNumber, TrialEnds::End)>& reopened);

  const TrialSet& numbers() const { return numbers_; }
  const TrialEnds& ends() const { return ends_; }
  const Repetitions& seeds() const { return seeds_; }
  const RepeatedPoint* FindRepeated(const Point& point) const;
  std::uint64_t count(TrialClass trial_class) const { return counts_[static_cast<std::size_t>(trial_class)]; }
  std::uint64_t failed() const;  // number of trials of all failure classes
  // Remove() does not change it.
  const std::optional<BestTrial>& best() const { return best_; }
  // With the median rule: the losses, by resource, of each trial that succeeded.
  const std::map<TrialNumber, std::map<double, double>>& losses() const { return losses_; }

  bool operator==(const FinishedTrials&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& progress);  // sweep/index/sweep_index.h

  TrialSet numbers_;
  TrialEnds ends_;
  std::array<std::uint64_t, kTrialClassNames.size()> counts_ = {};
  void AddRepetition(const AttemptEnded& entry, const OpenTrial& trial);

  std::optional<BestTrial> best_;
  Repetitions seeds_;
  std::map<std::string, RepeatedPoint> points_;  // of repeated points, by the id of the point without the seed
  std::map<TrialNumber, std::map<double, double>> losses_;
};

// The progress of a sweep, computed from the entries of its journal: what a head needs to continue exactly, and what
// views show. Depends only on the entries and their order. Its parts own the state of trials: open ones
// and finished ones.

// Reports of all attempts, in the order of the journal.
struct RungReport {
  std::uint64_t rung = 0;
  TrialNumber trial = 0;
  double loss = 0;
  bool stop = false;  // it was stopped or paused there

  bool operator==(const RungReport&) const = default;
};

// A value that is skipped, and the trials that are not tried because of it.
struct SkippedValue {
  ValueSkipped why;
  TrialSet trials;

  bool operator==(const SkippedValue&) const = default;
};
// "x=4", as users write it.
std::string SkipText(const std::string& name, const Value& value);

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
  // Those of these that are repetitions which the race of the points left out.
  std::uint64_t raced() const { return raced_; }
  // The values that are skipped, by their SkipText(); their trials are among the impossible ones.
  const std::map<std::string, SkippedValue>& skipped() const { return skipped_; }
  // Those that users took back, which are not skipped again.
  const std::set<std::string>& restored() const { return restored_; }
  // Since when no gain is expected; nothing: it is.
  const std::optional<NoGainExpected>& no_gain() const { return no_gain_; }
  // Possible trials that are not over.
  const std::map<TrialNumber, OpenTrial>& open() const { return open_.trials(); }
  // Whether a trial with this point number has begun; keeps the same point from being run twice.
  bool Knows(std::uint64_t point) const { return open_.Knows(point); }
  std::uint64_t begun() const { return open_.begun(); }  // number of trials
  std::uint64_t attempts() const { return open_.attempts(); }
  // Run time of all attempts that have ended.
  std::uint64_t trial_ms() const { return open_.ms(); }
  std::uint64_t device_ms() const { return open_.device_ms(); }

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

  // Of a sweep with repetitions: which of its points the trial, which has begun, repeats; numbered in the order in
  // which they began. Any other trial is a group of its own, from kNoGroup on.
  static constexpr std::uint64_t kNoGroup = std::uint64_t{1} << 63U;
  std::uint64_t GroupOf(TrialNumber trial) const;
  // Of all trials that have one below kNoGroup.
  const std::map<TrialNumber, std::uint64_t>& groups() const { return group_of_; }
  // The points of these groups, by number, without the seed.
  const std::vector<Point>& group_points() const { return group_points_; }
  // How points are repeated now; count 0: they are not.
  const Repetitions& seeds() const { return finished_.seeds(); }
  // The repetitions of a point without the seed that have succeeded; null: none has.
  const RepeatedPoint* FindRepeated(const Point& point) const { return finished_.FindRepeated(point); }

  // Trials that are paused at a rung, which are among those that have ended, as they were then.
  const std::map<TrialNumber, OpenTrial>& paused() const { return paused_; }
  // Whether its state is "paused": it is paused, and keeps the attempt that was.
  bool IsPaused(TrialNumber trial) const;

  const std::vector<RungReport>& rung_reports() const { return rung_reports_; }
  const std::vector<TrialPromoted>& promotions() const { return promotions_; }
  // Hosts, and whether they stay so under later heads.
  const std::map<std::string, bool>& quarantined() const { return quarantined_; }
  // The limits that users have set since the sweep was described: the latest of each; and all points that they chose.
  const SweepSteered& steered() const { return steered_; }
  // How often the sweep was edited, and the id of the last edit.
  std::uint64_t edits() const { return edits_; }
  const std::string& last_edit() const { return last_edit_; }
  // Why the last head stopped; nothing while one is running, or if it died.
  const std::optional<SweepEnded>& ended() const { return ended_; }

  bool operator==(const SweepProgress&) const = default;

 private:
  template <class V>
  friend void Fields(V& archive, SweepProgress& progress);  // sweep/index/sweep_index.h

  void Join(const AttemptBegan& entry);

  std::string sweep_id_, name_, recipe_;
  OpenTrials open_;
  FinishedTrials finished_;
  std::map<TrialNumber, OpenTrial> paused_;
  std::vector<RungReport> rung_reports_;
  std::vector<TrialPromoted> promotions_;
  std::map<std::string, bool> quarantined_;
  SweepSteered steered_;
  std::optional<SweepEnded> ended_;
  std::uint64_t raced_ = 0;
  std::uint64_t edits_ = 0;
  std::string last_edit_;
  std::map<std::string, SkippedValue> skipped_;
  std::set<std::string> restored_;
  std::optional<NoGainExpected> no_gain_;
  std::map<std::uint64_t, std::uint64_t> groups_;  // numbers of groups by the number of their point without the seed
  std::vector<Point> group_points_;
  std::map<TrialNumber, std::uint64_t> group_of_;
};

// A point of a sweep that repeats its points, with what its repetitions say together: every view shows these values.
// Only repetitions that have succeeded are results: what one reported that failed, was stopped early or is paused
// cannot be compared with them.
struct PointGroup {
  Point point;                           // without the seed
  std::vector<TrialNumber> trials;       // that have begun, ascending
  std::map<TrialNumber, double> losses;  // of those that have succeeded
  std::optional<double> loss;            // their mean or median
  double deviation = 0;                  // of the losses; 0 of fewer than two
  bool ranked = false;                   // all its repetitions have succeeded: it may be the best

  GroupStatistics statistics() const;
};
// Those that are ranked first, then others with a result, then those without; the best first, else by their first
// trial.
std::vector<PointGroup> PointGroupsOf(const SweepProgress& progress);

// How many trials that are over have which state, in the order of the classes; without those that none has.
std::vector<std::pair<std::string, std::uint64_t>> StatesOfOver(const SweepProgress& progress);

// Numbers of trials.
struct TrialCounts {
  std::uint64_t possible = 0;  // those of the sampler, without those found impossible so far
  std::uint64_t over = 0;
  std::uint64_t failed = 0;   // of these
  std::uint64_t running = 0;  // none if no head is running
  std::uint64_t waiting = 0;  // possible, neither over nor running
  std::uint64_t impossible = 0;
  std::uint64_t raced = 0;    // repetitions that the race left out
  std::uint64_t skipped = 0;  // points with a value that is skipped
};
TrialCounts CountsOf(const SweepProgress& progress, bool live);

// How many trials may be started in all, by the description or a user's later change; nothing: there is no limit.
std::optional<std::uint64_t> MostTrials(const SweepProgress& progress, const BudgetChoice& budget);

// Device time: the time for which a trial holds devices, times their number; of one without devices its time. Runs
// that share a device count with it each, as in the ledger (run/report/ledger.h).
inline constexpr double kMsPerHour = 3'600'000;
constexpr std::uint64_t DeviceMs(std::uint64_t ms, std::uint32_t devices) {
  return ms * std::max<std::uint64_t>(devices, 1);
}
// How many device hours trials may take in all; nothing: there is no limit.
std::optional<double> MaxDeviceHours(const SweepProgress& progress, const BudgetChoice& budget);

// What of it is used: by attempts that have ended, and in the end, if the trials to come take as long on average, and
// no more than there is. Nothing to forecast from before a trial has ended.
struct DeviceHours {
  double spent = 0;
  std::optional<double> limit;
  std::optional<double> forecast;
};
DeviceHours DeviceHoursOf(const SweepProgress& progress, const BudgetChoice& budget);

// How many trials are to end still, if of those not judged yet the same share is possible as until now.
double TrialsLeft(const SweepProgress& progress, const BudgetChoice& budget);

// "running", "complete", "stopped" or "lost" (its head died). `live`: a head is running.
std::string SweepState(const SweepProgress& progress, bool live);

}  // namespace muster
