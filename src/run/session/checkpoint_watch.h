// Waits until a checkpoint has been written: reports the first complete one that did not exist before.
//
// Uses inotify(7), without polling, on the folder of the checkpoints and on those below it in which one is completed. A
// file there that is open for writing is not complete. The kernel reports only changes made by this machine.
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

}  // namespace muster
