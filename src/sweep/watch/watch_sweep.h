// Watches a sweep from outside: its journal as a stream, and requests to its trials.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

// A sweep's journal as a stream: existing entries, then new ones, until no head is active. Uses inotify(7); what a head
// on another host writes is looked for once a second.
class SweepFeed {
 public:
  struct Calls {
    std::function<void(const SweepRecord& record)> take;
    std::function<void()> taken;  // called after all existing entries
    std::function<void()> over;   // called once, last: the head has exited, or is gone
  };

  explicit SweepFeed(boost::asio::io_context& io) : changes_(io), looks_(io) {}

  // Passes on existing entries before returning; new ones from the loop. False: no head is active, or it is exiting;
  // `over` is not called then. Kind "sweep" or "inotify".
  Result<bool> Start(const std::string& sweep_dir, Calls calls);
  void Stop();

 private:
  void Read();
  void Await();
  void LookLater();

  boost::asio::posix::stream_descriptor changes_;
  boost::asio::steady_timer looks_;
  std::string sweep_dir_;
  UniqueFd folder_;
  JournalPosition position_;
  Calls calls_;
  bool ended_ = false;  // according to the last entry
};

// Makes a trial of a running sweep answer requests of its own.

// A trial opens its control socket only after a while. Asks its sweep's head to open it now, within a few seconds. When
// this returns, a running trial has a run directory. The head refuses a trial that has ended, whose directory is
// complete; commands that contact a trial report other failures themselves.
void OpenTrialSocket(const std::string& sweep_dir, TrialNumber trial);

// Watches a sweep from outside: prints its head's entries from the journal as they are written, with inotify(7).

struct WatchSweepOptions {
  bool json = false;      // the journal's lines instead, on `out`
  bool progress = false;  // on a terminal: rows with running trials and their latest metrics
  int out = 1;
  int err = 2;
};

// Prints a line for each ended attempt, from the beginning on, until no head is active; then a summary. Returns the
// sweep's exit code: 3 if its head was killed. Fails with kind "sweep" or "inotify".
Result<int> WatchSweep(const std::string& sweep_dir, const WatchSweepOptions& options);

}  // namespace muster
