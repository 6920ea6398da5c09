// The scheduler of a sweep: which trials to judge, plan and start next, and what follows from the end of an attempt. It
// only decides and records: the head (sweep_head.h) executes each decision after it is in the journal.
//
// judged ─▶ to be planned ─▶ being planned ─▶ ready (trial_queue.h) ─▶ running ─▶ finished, or to be planned again
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
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/host_pool.h"
#include "sweep/scheduler/host_record.h"
#include "sweep/scheduler/retry_rule.h"
#include "sweep/scheduler/stop_rules.h"
#include "sweep/scheduler/trial_progress.h"
#include "sweep/scheduler/trial_queue.h"

namespace muster {

class TrialScheduler {
 public:
  static constexpr std::uint64_t kJudgedAtOnce = 512;
  static constexpr std::size_t kPlansAtOnce = 2;
  static constexpr std::size_t kMostReady = 32;  // planned before they can start

  // `record` writes an entry and returns whether it could; on failure no further decisions are made. Everything but the
  // pool must outlive this.
  TrialScheduler(const SweepDescription& sweep, Sampler& sampler, SweepProgress account, HostPool pool,
                 std::function<bool(const SweepEntry&)> record);

  // Must be called first, to resume the state that the previous head left. `adopt` returns the end of attempts that the
  // previous head did not see ending; attempts without one were interrupted, and are retried.
  struct AttemptEnd;
  // Finished trials in `reopened` are retried.
  void ResumeFrom(const SweepBegan& began,
                  const std::function<std::optional<AttemptEnd>(TrialNumber, const OpenTrial&)>& adopt,
                  std::vector<TrialRange> reopened = {});

  // Returns trials [first, first + count) to judge now, or nothing. Not to be called again before Judged().
  std::optional<std::pair<TrialNumber, std::uint64_t>> NextToJudge();
  // Points that occurred before are added to `judged` as impossible.
  void Judged(PointsJudged judged);

  std::optional<TrialNumber> NextToPlan();
  // The next trials as far as they are known, at most `most`.
  std::vector<TrialNumber> Following(std::size_t most) const;
  // Kind "plan_changed" if an earlier attempt had another plan.
  Result<void> Planned(TrialNumber trial, const std::string& plan_id, TrialNeeds needs);
  // Of a trial that is planned and has not begun.
  const std::string& PlanOf(TrialNumber trial) const { return plans_.at(trial); }
  // Its full plan turned out to be impossible.
  void MarkImpossible(TrialNumber trial, const std::string& why, const std::string& place);

  // It could not be planned for reasons other than the trial itself; requested again after Stop().
  void PlanningAbandoned(TrialNumber trial);

  std::optional<TrialQueue::Start> NextStart();
  // Call before starting anything of the attempt. False if it cannot be recorded: it must not be started then.
  bool Began(const AttemptBegan& began);
  std::uint32_t NextAttempt(TrialNumber trial) const;

  // Whether a begun trial waits for devices that other jobs hold.
  void Waits(TrialNumber trial, bool waits);
  // A waiting trial that could start on other hosts where none waits: it is to be interrupted, and retried.
  std::optional<TrialNumber> NextToMove();
  // How many begun trials are waiting.
  std::size_t waiting() const;
  // How many devices these need.
  std::uint32_t devices_awaited() const;

  // A report of an earlier attempt that this one continues; no decision follows.
  void Recalled(TrialNumber trial, const MetricReport& report);
  // Whether the attempt is to be stopped, and why.
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
  // Metrics are taken from its reports unless the end has them.
  void Ended(TrialNumber trial, AttemptEnd end);

  // The host gets no more trials from this head.
  void Quarantine(const std::string& host, const std::string& why);
  // Temporarily, and opens it again.
  void CloseHost(std::uint32_t host) { pool_.Close(host); }
  void OpenHost(std::uint32_t host) {  // unless it is quarantined
    if (!left_alone_.contains(PlaceName(host))) pool_.Open(host);
  }
  // Must be called before anything was started there.
  void SetCores(std::uint32_t host, std::uint32_t cores) { pool_.SetCores(host, cores); }

  // The head exits; no further decisions follow.
  void Left(const SweepEnded& ended) { Record(ended); }

  // Begins nothing more.
  void Stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }
  // Nothing is running, and nothing more will begin, for whatever reason.
  bool over() const;
  // All trials of the sampler are finished.
  bool complete() const;
  // Ready trials that fit on no host, with the reason of the first: "3 trials: it needs …"; empty if there are
  // none.
  std::string Hopeless() const;

  const SweepProgress& account() const { return account_; }
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
    bool moves = false;  // being ended to start elsewhere
  };

  bool Record(const SweepEntry& entry);
  void NoLongerPlanned(TrialNumber trial);
  std::uint64_t NumberOf(TrialNumber trial) const;  // number of its point
  bool budget_used_up() const;
  bool IsWithinBudget(TrialNumber trial) const;
  std::string PlaceName(std::uint32_t host) const { return pool_.hosts()[host].name; }
  void Follow(const std::string& host, TrialNumber trial, TrialClass trial_class);

  const SweepDescription& sweep_;
  Sampler& sampler_;
  SweepProgress account_;
  HostPool pool_;
  std::function<bool(const SweepEntry&)> record_;
  StopRules rules_;
  HostRecord hosts_;
  TrialQueue queue_;
  std::deque<TrialNumber> to_plan_;
  std::unordered_set<std::uint64_t> waiting_ids_;  // of trials that are judged and have not begun
  std::set<TrialNumber> planning_;
  std::map<TrialNumber, TrialNeeds> planned_;  // waiting for earlier trials that are being planned
  std::map<TrialNumber, std::string> plans_;   // of those and of all ready trials
  std::map<TrialNumber, Running> running_;
  std::set<std::string> left_alone_;                          // quarantined hosts, by this head
  std::map<TrialNumber, std::set<std::uint32_t>> waited_on_;  // hosts that trials were moved away from
  bool judging_ = false;
  bool stopping_ = false;
};

}  // namespace muster
