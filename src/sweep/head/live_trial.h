// One attempt of a trial while it runs: an ordinary run with its directory in the sweep's, and what it reports.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"
#include "run/session/run_in_progress.h"
#include "sweep/course/sweep_course.h"
#include "sweep/head/sweep_head.h"
#include "sweep/head/trial_planner.h"
#include "sweep/trial/log_patterns.h"
#include "sweep/trial/metrics_watch.h"

namespace muster {

// What all trials of a head share; outlives them.
struct TrialSetting {
  const SweepRequest& request;
  boost::asio::io_context& io;
  MetricsWatch& watch;
  LogPatterns patterns;
  ClassPatterns classes;
};

// The metrics of a run of a trial, to be watched; without a function that takes the reports.
MetricsWatch::Trial WatchedTrial(const TrialSetting& setting, const Plan& plan, std::string run_dir);

class LiveTrial {
 public:
  struct Calls {
    std::function<void(const MetricReport& report)> report;
    std::function<void(const std::string& holders)> waits;  // for devices that they hold; empty: no more
    std::function<void(const RunOutcome& outcome)> ended;   // the object may be destroyed in it
  };

  // `hosts`: of the request, by the plan's numbers. Fails, with nothing started, if the run cannot be begun at all.
  static Result<std::unique_ptr<LiveTrial>> Begin(TrialSetting& setting, const AttemptBegan& began,
                                                  TrialPlanner::Planned planned,
                                                  const std::vector<std::uint32_t>& hosts,
                                                  std::unique_ptr<Transport> transport, Calls calls);

  // It is no short one: what it reports is read as it goes, and not all at its end.
  void FollowMetrics();

  // By the sweep's rule; `why` is what is told of it.
  void StopEarly(const std::string& why);
  // It is not the trial's end, but comes again; `why` is what is told of it.
  void Interrupt(bool now, const std::string& why = "the sweep was stopped");
  bool waits() const { return waits_; }
  // Its control socket is there from now on.
  void Listen() { run_->Listen(); }

  // Its run has ended: what it wrote last is reported now, if it was not before, and what stands in its file of
  // results.
  void TakeLastReports();
  SweepCourse::AttemptEnd End(const RunOutcome& outcome, const TrialProgress* progress) const;

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
