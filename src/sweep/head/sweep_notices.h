// The notifications of a sweep: from what happens in it to notices, which are sent with what all notices have.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "run/notify/notifier.h"
#include "space/sweep_description.h"
#include "sweep/head/sweep_head.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/scheduler/stop_rules.h"

namespace muster {

// Maps what happens in a sweep to notices. Pure: no processes, files or clock.

class SweepNoticeMaker {
 public:
  // Both must outlive it. `folder`: of the sweep.
  SweepNoticeMaker(const SweepDescription& sweep, const SweepProgress& progress, std::string folder);

  // The notices that follow from the entry, which the progress does not have yet. `seconds`: since this head began.
  std::vector<Notice> Saw(const SweepEntry& entry, double seconds);
  // The first report of any trial, unless the sweep had results before this head.
  std::optional<Notice> Reported(TrialNumber trial, const MetricValues& report, double seconds);
  // The best result so far, if the progress has another one than at the last call.
  std::optional<Notice> NewBest(double seconds);

 private:
  Notice Ended(const SweepEnded& entry, NotifyEvent event, double seconds) const;
  Notice TrialFailed(const AttemptEnded& entry) const;

  const SweepDescription& sweep_;
  const SweepProgress& progress_;
  const std::string folder_;
  std::optional<BestTrial> best_;
  bool reported_ = false;
};

// Adds the best trial and the numbers of trials, as the progress has them now.
void AddState(const SweepDescription& sweep, const SweepProgress& progress, std::uint64_t running,
              const std::string& folder, Notice& notice);

// Sends the notifications of a sweep: adds to the notices of SweepNoticeMaker what all notices have, and
// sends. Its trials send none. Does nothing in a sweep without notifications.
class SweepNotices {
 public:
  struct Calls {
    std::function<std::uint64_t()> running;  // trials
    std::function<void(const std::string& text)> warn;
  };

  // All must outlive it.
  SweepNotices(boost::asio::io_context& io, const SweepRequest& request, const SweepProgress& progress, Calls calls);

  // Before the progress takes the entry.
  void Saw(const SweepEntry& entry);
  void Reported(TrialNumber trial, const MetricValues& report);
  // After the progress has taken the end of a trial.
  void TrialEnded();
  // After the last entry: calls `done` once all has been sent, or NotifierTimes::end has passed.
  void Finish(std::function<void()> done);
  void GiveUp();

 private:
  void Send(Notice notice);
  double Seconds() const;

  const SweepRequest& request_;
  const SweepProgress& progress_;
  const Calls calls_;
  std::unique_ptr<SweepNoticeMaker> maker_;
  std::unique_ptr<Notifier> notifier_;
  std::uint64_t began_ns_ = 0;
  std::string started_at_;
};

}  // namespace muster
