// Waits for a checkpoint to be written: tells of the first complete one that was not there before.
//
// inotify(7) on the folder where they appear and those below it in which one becomes whole; nothing is polled. A file
// in these that somebody has open for writing is not whole yet. The kernel tells only of what this machine writes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "run/directory/checkpoints.h"

namespace muster {

class CheckpointWatch {
 public:
  explicit CheckpointWatch(boost::asio::io_context& io) : changes_(io) {}

  // Calls `written` from the loop, once. A folder that is not there yet is waited for, too. Where the kernel tells of
  // no changes, nothing is ever told.
  void Start(CheckpointPlace place, std::function<void(const Checkpoint&)> written);
  void Stop();

 private:
  void Await();
  // The folder and those below it that count, or what is there on the way to it.
  void WatchFolders();
  void Look();

  boost::asio::posix::stream_descriptor changes_;
  CheckpointPlace place_;
  std::set<Checkpoint> before_;
  std::function<void(const Checkpoint&)> written_;
  std::map<int, std::string> folders_;                          // by watch
  std::set<std::string> open_;                                  // written to, and not closed since
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that are still on their way
};

}  // namespace muster
