// Tracks the checkpoints that the processes of a run write: waits for them, and names the one from which processes
// continue.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "run/directory/checkpoints.h"

namespace muster {

// Waits until a checkpoint has been written: reports the first complete one that did not exist before.
//
// Uses inotify(7), without polling, on the folder of the checkpoints and on those below it in which one is completed. A
// file there that is open for writing is not complete. The kernel reports only changes made by this machine.
class CheckpointWatch {
 public:
  explicit CheckpointWatch(boost::asio::io_context& io) : changes_(io) {}

  // Calls `written` from the loop, once. Also waits for a folder that does not exist yet. If the kernel reports no
  // changes, `written` is never called.
  void Start(CheckpointPlace place, std::function<void(const Checkpoint&)> written);
  void Stop();

 private:
  void Await();
  // Watches the folder and the relevant ones below it, or the existing part of the path to it.
  void WatchFolders();
  void Look();

  boost::asio::posix::stream_descriptor changes_;
  CheckpointPlace place_;
  std::set<Checkpoint> before_;
  std::function<void(const Checkpoint&)> written_;
  std::map<int, std::string> folders_;                          // by watch descriptor
  std::set<std::string> open_;                                  // written to, and not closed since
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that are still queued
};

// Tracks the checkpoints that the processes of a run write: from which one processes continue when they are started,
// and when a requested one is complete. The head looks at the folder on its own machine.

class RunBinding;
struct LiveRun;

class RunCheckpoints {
 public:
  RunCheckpoints(LiveRun& run, RunBinding& bound) : run_(run), bound_(bound) {}

  // Called before the run starts: existing checkpoints are not from this run.
  void NoteEarlier();
  // Processes that are started from now on continue from this run's newest checkpoint, if there is one.
  void UseNewest();
  // The newest one that processes would continue from; of an earlier run, too.
  std::optional<Checkpoint> Newest() const;
  // Watches for a new one only while the supervisor waits for it.
  void WatchIfAwaited();
  void StopWatching();
  // At the end: a checkpoint that was awaited and that the kernel did not report, as of files that other hosts write.
  std::optional<std::string> WrittenUnseen() const;

 private:
  LiveRun& run_;
  RunBinding& bound_;
  std::optional<CheckpointPlace> place_;  // with its folder as a path
  std::set<Checkpoint> earlier_;
  std::optional<CheckpointWatch> watch_;
  std::set<Checkpoint> before_watch_;
  bool seen_ = false;  // by the watch
};

}  // namespace muster
