// The running attempts of a sweep: their hosts, their waits for devices, their reports, and which of them to stop early
// or to move to other hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/recorded_progress.h"
#include "sweep/scheduler/stop_rules.h"
#include "sweep/scheduler/trial_hosts.h"
#include "sweep/scheduler/trial_planning.h"

namespace muster {

// Calls about a trial that is not running have no effect.
class RunningTrials {
 public:
  struct Attempt {
    std::uint32_t number = 0;  // from 0
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;  // empty if an earlier head started it
    TrialProgress progress;
    bool waits = false;  // for devices
    bool moves = false;  // being ended to start elsewhere
  };

  // `record` and `hosts` must outlive this object.
  RunningTrials(const SweepDescription& sweep, RecordedProgress& record, TrialHosts& hosts);

  std::size_t size() const { return attempts_.size(); }
  bool empty() const { return attempts_.empty(); }
  // Null if the trial is not running; valid until it ends.
  const TrialProgress* progress(TrialNumber trial) const;

  // How many devices it holds; 0 if it is not running.
  std::uint32_t DevicesOf(TrialNumber trial) const;

  // Whether a begun trial waits for devices that other jobs hold.
  void Waits(TrialNumber trial, bool waits);
  // How many begun trials are waiting.
  std::size_t waiting() const;
  // How many devices these need.
  std::uint32_t devices_awaited() const;
  // A waiting trial that could start on other hosts where none waits: it is to be interrupted, and retried. Once from
  // each host, so that it does not move in circles if devices are held everywhere.
  std::optional<TrialNumber> NextToMove();

  // A report of an earlier attempt that this one continues; no decision follows.
  void Recalled(TrialNumber trial, const MetricValues& report);
  // Whether the attempt is to be stopped, and why. The decisions are recorded.
  StopRules::Outcome Reported(TrialNumber trial, const MetricValues& report);

  // The functions below are for the scheduler.

  // Adds an attempt that an earlier head started; it holds no resources of the pool.
  void Adopt(TrialNumber trial, std::uint32_t attempt) { attempts_[trial].number = attempt; }
  // Adds an attempt whose resources have already been taken from the pool.
  void Add(const TrialQueue::Start& start, std::uint32_t attempt);
  // Call after the beginning of the attempt was recorded. `rungs`: reached by the attempts that it continues.
  void Began(TrialNumber trial, std::uint64_t rungs);
  // Removes an attempt that has ended and returns its resources to the pool; nothing if the trial is not running.
  std::optional<Attempt> Remove(TrialNumber trial);
  // Uses the reports of a successful attempt in decisions about other trials.
  void Finished(TrialNumber trial, const TrialProgress& progress) { rules_.Finished(trial, progress); }
  // The description was edited.
  void Edited(const SweepDescription& sweep) { rules_ = StopRules(sweep, record_.progress()); }
  // Of trials that are paused at rungs.
  StopRules& rules() { return rules_; }

 private:
  RecordedProgress& record_;
  TrialHosts& hosts_;
  StopRules rules_;
  std::map<TrialNumber, Attempt> attempts_;
};

}  // namespace muster
