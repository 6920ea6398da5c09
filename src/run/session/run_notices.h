// The notifications of a run: from the entries of its journal to notices, which are sent with what all notices have.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "metrics/metric_history.h"
#include "muster/plan.h"
#include "run/journal/journal.h"
#include "run/notify/notifier.h"

namespace muster {

// Maps the entries of a run's journal to notices. Pure: no processes, files or clock.
class RunNoticeMaker {
 public:
  // The plan must outlive it.
  explicit RunNoticeMaker(const Plan& plan) : plan_(plan) {}

  // The notices that follow from the entry, in order: with event, outcome, exit code, why and restart. `seconds`: since
  // the run began.
  std::vector<Notice> Saw(const JournalEntry& entry, double seconds);
  // The run's first metrics, unless they were returned before. A process may report before its start is known here:
  // then they follow the start, or come with the end (`at_end`).
  std::optional<Notice> FirstMetrics(const RoleReports& reports, double seconds, bool at_end);

 private:
  Notice Failed(const std::string& why, double seconds);
  std::string NameOf(ProcessId process) const;

  const Plan& plan_;
  std::string ending_;  // how the last process ended: "worker.2 exited with code 1"
  bool started_ = false;
  bool reported_ = false;
  bool failed_ = false;
};

// Sends the notifications of a run: adds to the notices of RunNoticeMaker what all notices have, watches
// for the first metrics, and sends. Does nothing in a run without notifications.

struct LiveRun;

class RunNotices {
 public:
  explicit RunNotices(LiveRun& run) : run_(run) {}

  // Once the run directory exists and the secrets are known; before the first entry of the journal.
  void Begin();
  void Saw(const JournalEntry& entry);
  // After the last entry: calls `done` once all has been sent, or NotifierTimes::end has passed.
  void Finish(std::function<void()> done);
  // Does not wait any longer.
  void GiveUp();

 private:
  void Send(Notice notice);
  double Seconds() const;
  void WatchMetrics();
  void AwaitMetrics();
  void LookLater();
  void LookAtMetrics(bool at_end);

  LiveRun& run_;
  std::unique_ptr<RunNoticeMaker> maker_;
  std::unique_ptr<Notifier> notifier_;
  std::string started_at_;
  std::optional<boost::asio::posix::stream_descriptor> metrics_;  // inotify(7)
  std::optional<boost::asio::steady_timer> look_;                 // for reports from other hosts
};

}  // namespace muster
