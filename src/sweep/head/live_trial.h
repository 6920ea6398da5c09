// One attempt of a trial while it runs: an ordinary run, in a directory below the sweep's, and its reports.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/metrics/log_patterns.h"
#include "run/session/run_in_progress.h"
#include "sweep/head/sweep_head.h"
#include "sweep/head/trial_place.h"
#include "sweep/head/trial_planner.h"
#include "sweep/scheduler/trial_scheduler.h"
#include "sweep/trial/metrics_watch.h"
#include "sweep/trial/trial_class.h"

namespace muster {

// What all trials of a head share; outlives them.
struct TrialSetting {
  const SweepRequest& request;
  boost::asio::io_context& io;
  MetricsWatch& watch;
  LogPatterns patterns;
  ClassPatterns classes;
};

// The parameters for watching a run's metrics, without the function that receives reports.
MetricsWatch::Trial WatchedTrial(const TrialSetting& setting, const Plan& plan, std::string run_dir);

class LiveTrial {
 public:
  struct Calls {
    std::function<void(const MetricReport& report)> report;
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
  std::unique_ptr<TrialMetrics> metrics_;
  std::unique_ptr<RunInProgress> run_;
};

}  // namespace muster
