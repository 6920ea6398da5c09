// Waits for the end of a run of another muster process, notified by inotify(7). For a head on another host, whose
// writes are not reported, it looks at the journal once a second.
//
// Uses the journal as a file that only the head writes: it is complete with its record run_ended, and when the writer
// closes it, the head has ended in whatever way. Reads no other record.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "muster/result.h"

namespace muster {

class RunEndWatch {
 public:
  explicit RunEndWatch(boost::asio::io_context& io) : changes_(io), looks_(io) {}

  // Calls `ended` once, from the loop: immediately if no head is active. Fails with kind "inotify".
  Result<void> Start(const std::string& run_dir, std::function<void()> ended);
  // Prevents further calls of `ended`.
  void Stop();

 private:
  void Await();
  void LookLater();
  bool JournalIsComplete() const;
  void Ended();

  boost::asio::posix::stream_descriptor changes_;
  boost::asio::steady_timer looks_;
  std::string run_dir_;
  std::string journal_;
  std::function<void()> ended_;
};

}  // namespace muster
