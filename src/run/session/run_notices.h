// Sends the notifications of a run: adds to the notices of RunNoticeMaker what all notices have, watches
// for the first metrics, and sends. Does nothing in a run without notifications.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "run/journal/journal.h"
#include "run/notify/notifier.h"
#include "run/session/run_notice_maker.h"

namespace muster {

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
