// Decides when to retry taking a lease: as soon as a lock file of the folder has been closed.
//
// Handles files and time; independent of leases. inotify(7) reports that a file was closed; if its holder was killed,
// shortly before the lock is released. So each change is followed by further retries at growing intervals. Without
// inotify there are only those.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"

namespace muster {

class LeaseWatch {
 public:
  explicit LeaseWatch(boost::asio::io_context& io);
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // Calls `look` from the loop, first after a short pause, until Stop(), which it may call.
  void Start(const std::string& folder, std::function<void()> look);
  void Stop();
  bool started() const { return look_ != nullptr; }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  static constexpr std::chrono::milliseconds kFirstPause{10};
  static constexpr std::chrono::milliseconds kLongestPause{1'000};
  static constexpr std::chrono::milliseconds kPauseUntold{50};  // without inotify

  void AwaitChanges();
  void Arm();

  WatchedFd changes_;
  Timer pause_;
  std::chrono::milliseconds next_pause_{0};
  std::function<void()> look_;
};

}  // namespace muster
