// One attempt of a trial: where it runs, an ordinary run below the sweep's directory, and what is known of one whose
// head was killed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "metrics/log_patterns.h"
#include "metrics/metrics_watch.h"
#include "muster/result.h"
#include "muster/site.h"
#include "run/session/session.h"
#include "sweep/head/sweep_head.h"
#include "sweep/head/trial_planner.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "sweep/trial/trial_class.h"
#include "transport/transport.h"

namespace muster {

// Where an attempt of a trial runs: hosts of the sweep, or an allocation of an engine that it gets for itself. The
// second is an interface: what asks the engine knows its page, which the head does not.

struct EngineJob;  // engine/engine_calls.h

struct TrialPlace {
  std::vector<SiteHost> hosts;           // those of the plan, in order; none: this machine
  std::vector<SiteHost> spares = {};     // further ones that may replace lost hosts
  std::unique_ptr<Transport> transport;  // to these
  // Of an allocation: for questions about its end, and the environment of processes in it.
  std::shared_ptr<const EngineJob> engine = {};
  std::optional<std::vector<std::string>> environment = {};
};

// From the request to the engine until nothing of the allocation is left.
class TrialAllocation {
 public:
  // Called from the loop; not after the object was destroyed.
  struct Calls {
    std::function<void()> known;                    // job() is; it may still be queued. At most once
    std::function<void(TrialPlace place)> granted;  // at most once, after `known`
    // Once, the last call: nothing is left of it. `refused`: another request would end in the same way.
    std::function<void(const std::string& why, bool refused)> ended;
  };

  virtual ~TrialAllocation() = default;
  // "slurm job 12"; empty as long as the engine has not accepted the request.
  virtual const std::string& job() const = 0;
  // Its id alone.
  virtual const std::string& id() const = 0;
  // It is not needed, or not any more. May be called again; `ended` follows.
  virtual void Release() = 0;
};

// What asks the engine for allocations.
class TrialAllocator {
 public:
  virtual ~TrialAllocator() = default;
  // Requests hosts for an attempt; fails if the request cannot even begin.
  virtual Result<std::unique_ptr<TrialAllocation>> Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                           TrialAllocation::Calls calls) = 0;
  // Takes back allocations that an earlier head has left, by their ids. Blocks for one command. Kind "engine".
  virtual Result<void> Cancel(const std::vector<std::string>& ids) = 0;
  // The most hosts and the devices of each that an allocation has; no number of hosts: as many as a trial needs.
  virtual std::optional<std::uint32_t> most_hosts() const = 0;
};

// One attempt of a trial while it runs: an ordinary run, in a directory below the sweep's, and its reports.

// What all trials of a head share; outlives them.
struct TrialSetting {
  const SweepRequest& request;
  boost::asio::io_context& io;
  MetricsWatch& watch;
  LogPatterns patterns;
  ClassPatterns classes;
};

// The parameters for watching a run's metrics, without the function that receives reports.
MetricsWatch::Run WatchedTrial(const TrialSetting& setting, const Plan& plan, std::string run_dir);

class LiveTrial {
 public:
  struct Calls {
    std::function<void(const MetricValues& report)> report;
    std::function<void(const std::string& holders)> waits;  // for devices; empty: no longer
    std::function<void(const RunOutcome& outcome)> ended;   // the object may be destroyed in it
  };

  // Fails, with nothing started, if the run cannot begin.
  static Result<std::unique_ptr<LiveTrial>> Begin(TrialSetting& setting, const AttemptBegan& began,
                                                  TrialPlanner::Planned planned, TrialPlace place, Calls calls);

  // Starts reading its reports while it runs, instead of at its end only.
  void FollowMetrics();

  // By an early stopping rule; `why` is for reports.
  void StopEarly(const std::string& why);
  // Ends the attempt, not the trial, which is retried; `why` is for reports.
  void Interrupt(bool now, const std::string& why = "the sweep was stopped");
  bool waits() const { return waits_; }
  // Opens its control socket.
  void Listen() { run_->Listen(); }

  // Its run has ended: reads its last reports and its result file, unless that was done
  // already.
  void TakeLastReports();
  TrialScheduler::AttemptEnd End(const RunOutcome& outcome, const TrialProgress* progress) const;
  // Since its beginning, without the wait for devices.
  std::uint64_t ran_ms() const;

 private:
  LiveTrial(TrialSetting& setting, std::unique_ptr<Transport> transport, Calls calls)
      : setting_(setting), transport_(std::move(transport)), calls_(std::move(calls)) {}

  void WatchMetrics(const Plan& plan);
  void OnWait(const std::string& holders);

  TrialSetting& setting_;
  std::unique_ptr<Transport> transport_;
  Calls calls_;
  std::string run_dir_;
  std::vector<std::string> host_names_;  // none: this machine
  std::uint64_t began_ns_ = 0;
  std::string interrupted_;  // why
  bool waits_ = false;
  std::string stopped_early_;  // why
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<WatchedMetrics> metrics_;
  std::unique_ptr<RunInProgress> run_;
};

// Reads ended attempts from their run directories: those that may have succeeded while their head was dead, and those
// that a later attempt continues.

// Its end with its reports, if its run succeeded. Else it is interrupted and has to be retried; its time is until the
// last sign of it: an entry, a report or a line of a log.
TrialScheduler::AttemptEnd RecoverAttemptEnd(TrialSetting& setting, const std::string& id, std::uint32_t attempt);

// The last failure of an ended attempt on which its run gave a verdict. `folder` is that of the sweep.
std::optional<FailureJudged> LastFailureOf(const std::string& folder, const AttemptBegan& attempt);

// Calls `report` for each report of the attempts that `began` continues, in order; `plan` is that of `began`.
void ReplayEarlierReports(TrialSetting& setting, const SweepProgress& progress, const AttemptBegan& began,
                          const Plan& plan, const std::function<void(const MetricValues&)>& report);

}  // namespace muster
