// A drill on a full disk (docs/drill.md): takes all free space of a file system, and gives it back.
#pragma once

#include <chrono>
#include <cstdint>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The space is that of one file without a name, so nothing is left if the agent is killed. What others give back while
// it is full is taken as well. One file system at a time: another command ends the one before.
class DiskFiller {
 public:
  explicit DiskFiller(boost::asio::io_context& io) : next_(io.get_executor()) {}

  // `run_dir`: where the head and the agent write. Refuses what WhyNotFilled() does.
  DiskFilled Do(const FillDisk& command, const std::string& run_dir);

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  // Takes what is free. Returns an errno other than ENOSPC, or 0.
  int Take();
  void Keep();

  Timer next_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;
  Clock::time_point end_;
};

}  // namespace muster
