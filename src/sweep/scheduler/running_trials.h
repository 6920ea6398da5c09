// The attempts that run: their places, whether they wait for devices, what they report, and which of them to stop early
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
#include "sweep/scheduler/trial_progress.h"
#include "sweep/scheduler/trial_queue.h"

namespace muster {

// Calls about a trial that does not run have no effect.
class RunningTrials {
 public:
  struct Attempt {
    std::uint32_t number = 0;  // from 0
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;  // empty: of an earlier head
    TrialProgress progress;
    bool waits = false;  // for devices
    bool moves = false;  // being ended to start elsewhere
  };

  // `record` and `hosts` must outlive this.
  RunningTrials(const SweepDescription& sweep, RecordedProgress& record, TrialHosts& hosts);

  std::size_t size() const { return attempts_.size(); }
  bool empty() const { return attempts_.empty(); }
  // Null if the trial does not run; valid until it ends.
  const TrialProgress* progress(TrialNumber trial) const;

  // Whether a begun trial waits for devices that other jobs hold.
  void Waits(TrialNumber trial, bool waits);
  // How many begun trials are waiting.
  std::size_t waiting() const;
  // How many devices these need.
  std::uint32_t devices_awaited() const;
  // A waiting trial that could start on other hosts where none waits: it is to be interrupted, and retried. Returned
  // once from each host, so that it does not move in circles if devices are held everywhere.
  std::optional<TrialNumber> NextToMove();

  // A report of an earlier attempt that this one continues; no decision follows.
  void Recalled(TrialNumber trial, const MetricReport& report);
  // Whether the attempt is to be stopped, and why. The decisions are recorded.
  StopRules::Outcome Reported(TrialNumber trial, const MetricReport& report);

  // The scheduler calls these.
  // An attempt that an earlier head began; it has no places in the pool.
  void Adopt(TrialNumber trial, std::uint32_t attempt) { attempts_[trial].number = attempt; }
  // Its places are taken from the pool already.
  void Add(const TrialQueue::Start& start, std::uint32_t attempt);
  // Its beginning is recorded: `rungs` were passed by the attempts that it continues.
  void Began(TrialNumber trial, std::uint64_t rungs);
  // It has ended: its places are free again.
  std::optional<Attempt> Remove(TrialNumber trial);
  // What a successful attempt has reported counts for decisions about others.
  void Finished(TrialNumber trial, const TrialProgress& progress) { rules_.Finished(trial, progress); }

 private:
  RecordedProgress& record_;
  TrialHosts& hosts_;
  StopRules rules_;
  std::map<TrialNumber, Attempt> attempts_;
};

}  // namespace muster
