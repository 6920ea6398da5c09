// Waiting for the end of a run that another muster is at: told by inotify(7), never by looking again and again.
//
// Knows the journal as a file that only the head writes: it is complete with its record run_ended, and whoever closes
// it has ended, however that came. Reads no other record.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "muster/result.h"

namespace muster {

class RunEndWatch {
 public:
  explicit RunEndWatch(boost::asio::io_context& io) : changes_(io) {}

  // Calls `ended` once, from the loop: at once if nobody is at the run. Fails with kind "inotify".
  Result<void> Start(const std::string& run_dir, std::function<void()> ended);
  // `ended` is not called any more.
  void Stop();

 private:
  void Await();
  bool JournalIsComplete() const;
  void Ended();

  boost::asio::posix::stream_descriptor changes_;
  std::string journal_;
  std::function<void()> ended_;
};

}  // namespace muster
