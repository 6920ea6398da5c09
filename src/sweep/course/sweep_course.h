// The course of a sweep: what is to be judged, planned and started next, and what follows from the end of an attempt.
// Decides and writes down, and does nothing itself: journal first, then the deed, which is the head's (sweep_head.h).
//
//   judged ─▶ to be planned ─▶ being planned ─▶ ready (trial_queue.h) ─▶ running ─▶ over, or to be planned again
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "muster/result.h"
#include "space/sampler.h"
#include "space/sweep_description.h"
#include "sweep/course/host_pool.h"
#include "sweep/course/host_record.h"
#include "sweep/course/retry_rule.h"
#include "sweep/course/stop_rules.h"
#include "sweep/course/trial_progress.h"
#include "sweep/course/trial_queue.h"
#include "sweep/record/sweep_account.h"
#include "sweep/record/sweep_events.h"

namespace muster {

class SweepCourse {
 public:
  static constexpr std::uint64_t kJudgedAtOnce = 512;
  static constexpr std::size_t kPlansAtOnce = 2;
  static constexpr std::size_t kMostReady = 32;  // planned ahead of their start

  // `record` writes the entry down, and says whether that was possible; if it was not, nothing is decided any more.
  // Everything but the pool has to outlive this.
  SweepCourse(const SweepDescription& sweep, Sampler& sampler, SweepAccount account, HostPool pool,
              std::function<bool(const SweepEntry&)> record);

  // First: what the head before left. Attempts that it did not see the end of are told by `adopt`, which gives their
  // end if they have one; without it they were interrupted, and are tried again.
  struct AttemptEnd;
  // Trials of `reopened` that are over are to be tried again.
  void TakeUp(const SweepBegan& began,
              const std::function<std::optional<AttemptEnd>(TrialNumber, const OpenTrial&)>& adopt,
              std::vector<TrialRange> reopened = {});

  // Trials [first, first + count) are to be judged now, or nothing. Asked again only after Judged().
  std::optional<std::pair<TrialNumber, std::uint64_t>> NextToJudge();
  // Points that were there before are added to `judged` as impossible.
  void Judged(PointsJudged judged);

  std::optional<TrialNumber> NextToPlan();
  // What follows as far as that is known, `most` of them.
  std::vector<TrialNumber> Following(std::size_t most) const;
  // Kind "plan_changed" if an earlier attempt had another plan.
  Result<void> Planned(TrialNumber trial, const std::string& plan_id, TrialNeeds needs);
  // Of one that is planned and has not begun.
  const std::string& PlanOf(TrialNumber trial) const { return plans_.at(trial); }
  // Laid out whole it turned out to be impossible.
  void CannotBe(TrialNumber trial, const std::string& why, const std::string& place);

  // It could not be planned for reasons that are not its own; asked after Stop().
  void GivenUp(TrialNumber trial);

  std::optional<TrialQueue::Start> NextStart();
  // Before anything of it is started. False if it cannot be written down: it must not be started then.
  bool Began(const AttemptBegan& began);
  std::uint32_t NextAttempt(TrialNumber trial) const;

  // The devices of one that has begun are held by others and are waited for; or are not any more.
  void Waits(TrialNumber trial, bool waits);
  // One that does, and that could be started on other hosts where none does: it is to be interrupted, and comes again.
  std::optional<TrialNumber> NextToMove();
  // How many that have begun do.
  std::size_t waiting() const;
  // How many devices these need.
  std::uint32_t devices_awaited() const;

  // What an earlier attempt reported that this one continues; nothing is decided by it.
  void Recalled(TrialNumber trial, const MetricReport& report);
  // Whether it is to be stopped, and why.
  StopRules::Outcome Reported(TrialNumber trial, const MetricReport& report);

  struct AttemptEnd {
    TrialClass trial_class = TrialClass::kOk;
    bool interrupted = false;
    std::string blamed;
    std::string why;
    std::optional<double> loss;
    MetricReport metrics;
    std::uint64_t ms = 0;
  };
  // What was measured is taken from its reports where the end says nothing of it.
  void Ended(TrialNumber trial, AttemptEnd end);

  // The host takes no more trials of this head.
  void Quarantine(const std::string& host, const std::string& why);
  // For now, or again.
  void CloseHost(std::uint32_t host) { pool_.Close(host); }
  void OpenHost(std::uint32_t host) {  // unless it is left alone
    if (!left_alone_.contains(PlaceName(host))) pool_.Open(host);
  }
  // Before anything was started there.
  void SetCores(std::uint32_t host, std::uint32_t cores) { pool_.SetCores(host, cores); }

  // The head leaves; nothing follows.
  void Left(const SweepEnded& ended) { Record(ended); }

  // Nothing more is begun.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // Nothing runs, and nothing is begun any more, for one reason or another.
  bool over() const;
  // Of all that the sampler has, nothing is left to try.
  bool complete() const;
  // Trials that are ready and that no host can hold, with the reason of the first: "3 trials: it needs …"; empty if
  // there are none.
  std::string Hopeless() const;

  const SweepAccount& account() const { return account_; }
  const HostPool& pool() const { return pool_; }
  std::size_t running() const { return running_.size(); }
  const TrialProgress* progress(TrialNumber trial) const;

 private:
  struct Running {
    std::uint32_t attempt = 0;
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;
    TrialProgress progress;
    bool waits = false;  // for devices
    bool moves = false;  // it is ended to be started elsewhere
  };

  bool Record(const SweepEntry& entry);
  void NoLongerPlanned(TrialNumber trial);
  std::uint64_t NumberOf(TrialNumber trial) const;  // its point's
  bool budget_used_up() const;
  bool IsWithinBudget(TrialNumber trial) const;
  std::string PlaceName(std::uint32_t host) const { return pool_.hosts()[host].name; }
  void Follow(const std::string& host, TrialNumber trial, TrialClass trial_class);

  const SweepDescription& sweep_;
  Sampler& sampler_;
  SweepAccount account_;
  HostPool pool_;
  std::function<bool(const SweepEntry&)> record_;
  StopRules rules_;
  HostRecord hosts_;
  TrialQueue queue_;
  std::deque<TrialNumber> to_plan_;
  std::unordered_set<std::uint64_t> waiting_ids_;  // of trials that are judged and have not begun
  std::set<TrialNumber> planning_;
  std::map<TrialNumber, TrialNeeds> planned_;  // they wait for earlier ones that are being planned
  std::map<TrialNumber, std::string> plans_;   // of those and of all that are ready
  std::map<TrialNumber, Running> running_;
  std::set<std::string> left_alone_;                          // hosts, by this head
  std::map<TrialNumber, std::set<std::uint32_t>> waited_on_;  // hosts that trials were moved away from
  bool judging_ = false;
  bool stopping_ = false;
};

}  // namespace muster
