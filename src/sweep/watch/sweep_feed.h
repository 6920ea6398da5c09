// A sweep's journal as a stream: existing entries, then new ones, until no head is active. Uses inotify(7); what a head
// on another host writes is looked for once a second.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

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

}  // namespace muster
