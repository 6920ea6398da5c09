#include "agent/devices/lease_watch.h"

#include <algorithm>
#include <utility>

#include <sys/inotify.h>

#include "base/system/file_changes.h"
#include "base/system/unique_fd.h"

namespace muster {

LeaseWatch::LeaseWatch(boost::asio::io_context& io) : changes_(io.get_executor()), pause_(io.get_executor()) {}

void LeaseWatch::Start(const std::string& folder, std::function<void()> look) {
  Stop();
  look_ = std::move(look);
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // Only for files that were open for writing, so InspectLeaseFile raises no event.
  if (inotify && ::inotify_add_watch(inotify.get(), folder.c_str(), IN_CLOSE_WRITE | IN_ONLYDIR) >= 0) {
    boost::system::error_code error;
    changes_.assign(inotify.get(), error);
    if (!error) {
      inotify.release();
      AwaitChanges();
    }
  }
  next_pause_ = std::chrono::milliseconds(0);
  Arm();
}

void LeaseWatch::Stop() {
  look_ = nullptr;
  pause_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void LeaseWatch::AwaitChanges() {
  changes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error || !look_) return;
    ReadFileChanges(changes_.native_handle(), [](const FileChange&) {});
    next_pause_ = std::chrono::milliseconds(0);
    Arm();
    AwaitChanges();
  });
}

void LeaseWatch::Arm() {
  pause_.expires_after(next_pause_);
  const auto longer = changes_.is_open() ? std::clamp(next_pause_ * 2, kFirstPause, kLongestPause) : kPauseUntold;
  next_pause_ = longer;
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (error || !look_) return;
    Arm();
    const std::function<void()> look = look_;  // a copy, since it may call Stop()
    look();
  });
}

}  // namespace muster
