// The scheduler of a sweep: which trials to judge, plan and start next, what follows from events, and changes that
// users make while it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "run/journal/head_facts.h"
#include "run/supervise/verdict.h"
#include "space/sampler.h"
#include "space/sweep_description.h"
#include "sweep/record/failure_table.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/device_budget.h"
#include "sweep/scheduler/gain_watch.h"
#include "sweep/scheduler/host_pool.h"
#include "sweep/scheduler/recorded_progress.h"
#include "sweep/scheduler/running_trials.h"
#include "sweep/scheduler/stop_rules.h"
#include "sweep/scheduler/trial_hosts.h"
#include "sweep/scheduler/trial_planning.h"

namespace muster {

// Changes that users make to the limits of a running sweep: from a request to the entry that records it. Pure.

struct SteeringRequest {
  std::optional<std::uint32_t> slots = {};
  std::uint64_t add_trials = 0;
  std::vector<Point> points = {};           // chosen ones, complete (space/sweep_description.h)
  std::vector<std::string> unskip = {};     // values that are no longer skipped: "x=4"
  std::optional<double> device_hours = {};  // that trials may take in all

  bool empty() const { return !slots && add_trials == 0 && points.empty() && unskip.empty() && !device_hours; }
};

// Fails with a sentence if one of the values is not skipped.
tl::expected<void, std::string> CheckUnskip(const std::vector<std::string>& values, const SweepProgress& progress);

// The entry that fulfils the request; it has absolute numbers, so that a repeated entry changes nothing.
// `most`: trials that may be started in all; if there is such a limit, it grows with the number of trials. The error is
// a sentence: the space has too few further points, or too many chosen ones wait.
tl::expected<SweepSteered, std::string> SteeringFor(const SteeringRequest& request, const TrialPoints& points,
                                                    std::optional<std::uint64_t> most);

// The scheduler of a sweep: which trials to judge, plan and start next, and what follows from the end of an attempt. It
// only decides and records: the head (sweep_head.h) executes each decision after it is in the journal.
//
// Its parts own the state: trials before they run (trial_planning.h), running ones (running_trials.h), and the hosts
// (trial_hosts.h). The scheduler passes a trial from one part to the next:
//
// planning ─▶ running ─▶ finished, or to be planned again
class TrialScheduler {
 public:
  // `record` writes an entry and returns whether it could; on failure no further decisions are made. `sweep` and
  // `points`, which know all earlier entries, must outlive this object.
  TrialScheduler(const SweepDescription& sweep, TrialPoints& points, SweepProgress progress, HostPool pool,
                 std::function<bool(const SweepEntry&)> record);

  struct AttemptEnd {
    TrialClass trial_class = TrialClass::kOk;
    bool interrupted = false;
    std::string blamed;
    std::string why;
    std::optional<double> loss;
    MetricValues metrics;
    std::uint64_t ms = 0;
    std::optional<FailureJudged> judged = {};
  };

  // Of a sweep with a journal: `recall` passes all its entries so far. Called for what is only needed at some time:
  // when as many have failed as a value needs to be skipped, when there are results enough to ask for the gain, and at
  // the first failure. `judged` returns the last failure of an ended attempt on which its run gave a verdict.
  using Recall = std::function<void(const std::function<void(const SweepEntry&)>& take)>;
  using RecallJudged = std::function<std::optional<FailureJudged>(const AttemptBegan& attempt)>;
  void RecallBy(Recall recall, RecallJudged judged);
  // The rules of verdicts, instead of muster's; they must outlive it.
  void JudgeBy(const std::vector<VerdictRule>& rules) { rules_ = &rules; }

  // Must be called first, to resume the state that the previous head left. `adopt` returns the end of attempts that the
  // previous head did not see ending; attempts without one were interrupted, and are retried. Finished trials in
  // `reopened` are retried.
  void ResumeFrom(const SweepBegan& began,
                  const std::function<std::optional<AttemptEnd>(TrialNumber, const OpenTrial&)>& adopt,
                  std::vector<TrialRange> reopened = {});

  TrialPlanning& planning() { return planning_; }
  RunningTrials& running() { return running_; }
  const RunningTrials& running() const { return running_; }
  TrialHosts& hosts() { return hosts_; }
  const HostPool& pool() const { return hosts_.pool(); }
  const SweepProgress& progress() const { return record_.progress(); }

  // For how many ms each running trial has run, by its number; before NextStart(), in a sweep with a budget of device
  // time.
  void SetRunTimes(std::map<TrialNumber, std::uint64_t> ms) { run_times_ = std::move(ms); }
  // Why no trial is started by the budget of device time (device_budget.h); empty if one may be.
  std::string OverBudget() const;
  // The entries of earlier heads, of a sweep with such a budget.
  void RecallCosts(DeviceBudget costs) { costs_ = std::move(costs); }

  // The trial to start now, and its hosts; nothing if none fits. Must be followed by Began() or Dropped().
  std::optional<TrialQueue::Start> NextStart();
  // The number of the trial's next attempt, from 0.
  std::uint32_t NextAttempt(TrialNumber trial) const;
  // Call before starting anything of the attempt. False if it cannot be recorded: it must not be started then.
  bool Began(const AttemptBegan& began);
  // A started trial that is not to begin after all, while the sweep stops; the next head starts it.
  void Dropped(TrialNumber trial) { running_.Remove(trial); }
  // Metrics are taken from its reports unless the end has them.
  void Ended(TrialNumber trial, AttemptEnd end);

  // The chosen points of the description, before anything of the sweep was judged; they count as other trials.
  void Choose(std::vector<Point> points);
  // Changes the limits of the sweep, recorded first. The error is a sentence; nothing has changed then.
  tl::expected<void, std::string> Steer(const SteeringRequest& request);

  // Records an edit (sweep/record/sweep_edit.h); false if that is not possible. Then Edited() follows, once the
  // description and the points are the edited ones. No started trial may be waiting to begin.
  bool RecordEdit(const std::vector<SweepEntry>& entries);
  void Edited();

  // Why the sweep is to begin nothing more: as many trials failed alike as StopAfterChoice says, since the last one
  // with a result or since the sweep was resumed after it had ended. Empty otherwise.
  const std::string& failed_alike() const { return failed_alike_; }
  // Why it is to begin nothing more since no gain is expected, if the description says so; empty otherwise, and in a
  // sweep that is resumed after it had ended so.
  const std::string& no_gain() const { return no_gain_; }

  // Begins nothing more.
  void Stop() { record_.Stop(); }
  bool stopping() const { return record_.stopping(); }
  // The head exits; no further decisions follow.
  void Left(const SweepEnded& ended) { record_.Record(ended); }

  // Nothing is running, and nothing more will begin, for whatever reason.
  bool over() const;
  // All trials of the sampler are finished.
  bool complete() const;
  // As in TrialPlanning.
  std::string Hopeless() const { return planning_.Hopeless(); }

 private:
  void CountFailure(const AttemptEnded& ended);
  void FailedOn(const std::string& host, TrialNumber trial, TrialClass trial_class);
  // What the end of an attempt means for its trial, and for its hosts.
  void Settle(TrialNumber trial, const RunningTrials::Attempt& attempt, const AttemptEnded& ended);
  // Lets paused trials continue, as many as there is room for now.
  void Promote();
  std::string HostOf(const FailureJudged& judged, const std::vector<std::uint32_t>& hosts) const;
  // The verdict on the failure over those of the trial's earlier attempts, if retries obey it.
  std::optional<GivenVerdict> Judge(TrialNumber trial, const AttemptEnd& end, const std::vector<std::uint32_t>& hosts);
  // What has failed under earlier heads: alike, on hosts, and in trials that are retried.
  void RecallFailures();
  void Remember(TrialNumber trial, FailureJudged judged, std::string host);

  void ApplySteering();
  // Records which values are to be skipped after a failure.
  void SkipValues();
  // Records that no gain is expected, once that is so.
  void WatchGain();

  DeviceBudget costs_;
  std::map<TrialNumber, std::uint64_t> run_times_;
  Recall recall_;
  bool has_table_ = true;
  bool has_gain_ = true;
  FailureTable table_;  // these two once they were recalled
  GainWatch gain_;
  std::string no_gain_;
  const SweepDescription& sweep_;
  TrialPoints& points_;
  RecordedProgress record_;
  TrialHosts hosts_;
  TrialPlanning planning_;
  RunningTrials running_;
  // Trials that failed for good since the last result, by the reason without its numbers.
  std::map<std::pair<TrialClass, std::string>, std::uint64_t> failed_;
  std::string failed_alike_;
  const std::vector<VerdictRule>* rules_ = &DefaultVerdictRules();
  std::map<TrialNumber, std::vector<FailureJudged>> failures_;  // of trials that are retried
  RecallJudged recall_judged_;
  bool has_failures_ = true;  // those of earlier heads
};

}  // namespace muster
