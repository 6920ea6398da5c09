// When it is worth to ask for a lease again: as soon as a lock file of the folder was let go of.
//
// Knows files and time; knows no leases. The kernel tells of a file that is closed (inotify(7)), and of one whose
// holder was killed it does so just before the lock goes: so there are further looks after each change, ever more
// seldom. Where it tells nothing those are all there is.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/boost_launcher.h"

namespace muster {

class LeaseWatch {
 public:
  explicit LeaseWatch(boost::asio::io_context& io);
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // Calls `look` from the loop, for the first time soon, until Stop(), which it may call.
  void Start(const std::string& folder, std::function<void()> look);
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  static constexpr std::chrono::milliseconds kFirstPause{10};
  static constexpr std::chrono::milliseconds kLongestPause{1'000};
  static constexpr std::chrono::milliseconds kPauseUntold{50};  // where the kernel tells nothing

  void AwaitChanges();
  void Arm();

  WatchedFd changes_;
  Timer pause_;
  std::chrono::milliseconds next_pause_{0};
  std::function<void()> look_;
};

}  // namespace muster
