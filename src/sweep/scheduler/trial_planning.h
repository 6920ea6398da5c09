// The trials of a sweep before they start: which trials to judge next, which to plan, and which to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "muster/result.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/host_pool.h"
#include "sweep/scheduler/recorded_progress.h"
#include "sweep/scheduler/trial_hosts.h"
#include "sweep/scheduler/trial_points.h"

namespace muster {

// Chooses the next ready trial to start: the largest that fits, and smaller ones in the gaps (backfilling). Hosts are
// reserved for a trial that was overtaken too often, so that it does not starve.
class TrialQueue {
 public:
  // A trial that was overtaken this often is not overtaken any more on hosts where it could start.
  static constexpr std::uint32_t kMaxOvertaken = 8;

  static constexpr std::uint64_t kNoTurn = std::numeric_limits<std::uint64_t>::max();

  // Among equal ones the earlier added comes first. Hosts of `avoid` are used only if no others will do. Trials with a
  // turn come before all that have none, whatever their sizes, in the order of their turns.
  void Add(TrialNumber trial, TrialNeeds needs, std::set<std::uint32_t> avoid = {}, std::uint64_t turn = kNoTurn);
  // As if the trial had been added with that turn; no effect if it does not wait.
  void Move(TrialNumber trial, std::uint64_t turn);
  // Takes it out of the queue; no effect if it does not wait.
  void Remove(TrialNumber trial);
  bool empty() const { return waiting_.empty(); }
  std::uint64_t first_turn() const { return waiting_.empty() ? kNoTurn : waiting_.front().turn; }
  std::size_t size() const { return waiting_.size(); }
  // The waiting trials.
  std::vector<TrialNumber> trials() const;

  struct Start {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;
  };
  // Takes the next trial out of the queue and into the pool; nothing if none fits now. O(waiting · hosts).
  std::optional<Start> Next(HostPool& pool);
  // Removes trials that would not even fit into the empty pool: their numbers, and why.
  std::vector<std::pair<TrialNumber, std::string>> TakeHopeless(const HostPool& pool);

 private:
  struct Waiting {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::set<std::uint32_t> avoid;
    std::uint32_t overtaken = 0;
    std::uint64_t turn = kNoTurn;
  };
  void Insert(Waiting waiting);
  std::vector<Waiting> waiting_;  // by their turns, then largest first
};

// The trials of a sweep before they start: which trials to judge next, which to plan, and which of the planned ones to
// start.
//
// judged ─▶ to be planned ─▶ being planned ─▶ planned ─▶ ready ─▶ started
class TrialPlanning {
 public:
  static constexpr std::uint64_t kJudgedAtOnce = 512;
  static constexpr std::size_t kPlansAtOnce = 2;
  static constexpr std::size_t kMaxReady = 32;  // planned before they can start

  // The arguments must outlive this object.
  TrialPlanning(const SweepDescription& sweep, TrialPoints& points, RecordedProgress& record, TrialHosts& hosts);

  // The points of trial `first` and the following.
  struct ToJudge {
    TrialNumber first = 0;
    std::vector<Point> points;
  };
  // Returns what to judge now, or nothing. Not to be called again before Judged().
  std::optional<ToJudge> NextToJudge();
  // Points that occurred before are added to `judged` as impossible.
  void Judged(PointsJudged judged);

  // The trial to plan now, or nothing. Must be followed by Planned(), MarkImpossible() or Abandoned() for that trial.
  std::optional<TrialNumber> NextToPlan();
  // The next trials to plan as far as they are known, at most `most`.
  std::vector<TrialNumber> Following(std::size_t most) const;
  // Kind "plan_changed" if an earlier attempt had another plan.
  Result<void> Planned(TrialNumber trial, const std::string& plan_id, TrialNeeds needs);
  // Its full plan turned out to be impossible: `why`, and the `place` in the recipe.
  void MarkImpossible(TrialNumber trial, const std::string& why, const std::string& place);
  // It could not be planned for reasons other than the trial itself; the next head plans it again.
  void Abandoned(TrialNumber trial);

  // Of a trial that is planned and has not begun.
  const std::string& PlanOf(TrialNumber trial) const { return plans_.at(trial); }
  // How many trials may be started in all; nothing: there is no limit.
  std::optional<std::uint64_t> MostTrials() const;
  // Ready trials that fit on no host, with the reason of the first: "3 trials cannot be started: it needs …"; empty if
  // there are none.
  std::string Hopeless() const;
  // Whether nothing more can be judged, planned or started. Valid only while no trial is running.
  bool exhausted() const;

  // The functions below are for the scheduler.

  // The trials that wait to begin for the first time and have the value, unless users chose their points.
  std::vector<TrialRange> WaitingWith(const std::string& name, const Value& value) const;
  // A ValueSkipped or ValueRestored with these trials was recorded.
  void Skip(const std::vector<TrialRange>& trials);
  void Restore(const std::vector<TrialRange>& trials);

  // Queues the open trials of earlier heads, lowest first.
  void Resume();
  // The description and the points were edited: what was judged and planned is forgotten, and so are requests for it.
  void Edited();
  // Plans the trial again, before all others.
  void Retry(TrialNumber trial) { to_plan_.push_front(trial); }
  // Plans the paused trial, which starts before all that were not chosen by users.
  void Promote(TrialNumber trial);
  // Whether another paused trial could start now, besides those that were promoted and wait.
  bool HasRoomToPromote() const;
  // Returns the next ready trial and takes its resources from the pool; nothing if none fits now, or while chosen
  // points are judged and planned, so that no other trial gets ahead of them.
  std::optional<TrialQueue::Start> TakeNext();
  // Its attempt begins; PlanOf() is no longer valid for it.
  void Began(TrialNumber trial);

 private:
  // The values that are skipped, of which the point has one; null: none.
  const SkippedValue* SkippedOf(const Point& point) const;
  std::uint64_t TurnOf(TrialNumber trial) const;
  void Enqueue(TrialNumber trial, TrialNeeds needs);
  void NoLongerPlanned(TrialNumber trial);
  // Of a sampler that learns: it has given points that are not judged yet, with the numbers of the next trials.
  bool has_asked() const;
  std::uint64_t PointNumberOf(TrialNumber trial) const;
  // Points that are left out become trials that are impossible.
  void RecordLeftOut();
  // How many further trials could start now, after those that are ready: as many of the smallest so far as fit. At
  // least one if nothing runs.
  std::uint64_t FurtherStarts() const;
  // What the smallest trial so far needs.
  TrialNeeds LeastNeeds() const;
  bool budget_used_up() const;
  bool IsWithinBudget(TrialNumber trial) const;
  // The trial, which has not begun, is the next one to plan and start after those that were moved before.
  void MoveFirst(const std::vector<TrialNumber>& trials);

  const SweepDescription& sweep_;
  TrialPoints& points_;
  RecordedProgress& record_;
  TrialHosts& hosts_;
  bool judging_ = false;
  bool judging_chosen_ = false;
  // By point number: trials that are judged and have not begun.
  std::unordered_map<std::uint64_t, TrialNumber> waiting_points_;
  // Of these: those whose points were chosen, with their turns.
  std::map<TrialNumber, std::uint64_t> first_;
  std::uint64_t next_turn_ = 0;
  std::set<TrialNumber> promoted_;  // that have not begun since
  std::deque<TrialNumber> to_plan_;
  std::set<TrialNumber> planning_;
  std::map<TrialNumber, TrialNeeds> planned_;  // waiting for earlier trials that are being planned; without a turn
  TrialQueue queue_;
  std::optional<TrialNeeds> least_needs_;     // of the trials planned so far
  std::map<TrialNumber, std::string> plans_;  // plan ids of planned and ready trials
};

}  // namespace muster
