// A sweep's journal as a stream: what has been written, then what is being written, until nobody is at the sweep. Told
// by inotify(7).
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

class SweepFeed {
 public:
  struct Calls {
    std::function<void(const SweepRecord& record)> take;
    std::function<void()> taken;  // all that is there until now has been
    std::function<void()> over;   // once, behind all the others: the head has left, or is gone
  };

  explicit SweepFeed(boost::asio::io_context& io) : changes_(io) {}

  // What is there already is taken before this returns; what comes, from the loop. False: nobody is at the sweep, or
  // its head is leaving; `over` is not called then. Kind "sweep" or "inotify".
  Result<bool> Start(const std::string& sweep_dir, Calls calls);
  void Stop();

 private:
  void Read();
  void Await();

  boost::asio::posix::stream_descriptor changes_;
  UniqueFd folder_;
  JournalPosition position_;
  Calls calls_;
  bool ended_ = false;  // by the last record that says so
};

}  // namespace muster
