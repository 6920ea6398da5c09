#include "agent/first_output.h"

#include <array>
#include <cstring>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

namespace muster {

FirstOutputWatch::FirstOutputWatch(boost::asio::io_context& io, std::function<void(const Key&)> seen)
    : seen_(std::move(seen)), changes_(io.get_executor()) {}

bool FirstOutputWatch::Open() {
  if (changes_.is_open()) return true;
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  boost::system::error_code error;
  if (inotify) changes_.assign(inotify.get(), error);
  if (!inotify || error) return false;
  inotify.release();
  AwaitChanges();
  return true;
}

void FirstOutputWatch::Watch(const Key& key, const std::string& log) {
  if (!Open()) return;
  const int watch = ::inotify_add_watch(changes_.native_handle(), log.c_str(), IN_MODIFY | IN_ONESHOT);
  if (watch < 0) return;
  watched_.insert_or_assign(key, Watched{watch, log});
  by_watch_.insert_or_assign(watch, key);
}

void FirstOutputWatch::Forget(const Key& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  ::inotify_rm_watch(changes_.native_handle(), found->second.watch);
  by_watch_.erase(found->second.watch);
  watched_.erase(found);
}

void FirstOutputWatch::End(const Key& key) {
  const auto found = watched_.find(key);
  if (found == watched_.end()) return;
  struct stat status {};
  const bool wrote = ::stat(found->second.log.c_str(), &status) == 0 && status.st_size > 0;
  Forget(key);
  if (wrote) seen_(key);
}

void FirstOutputWatch::AwaitChanges() {
  changes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnChanges();
    AwaitChanges();
  });
}

void FirstOutputWatch::OnChanges() {
  alignas(inotify_event) std::array<char, 16U << 10> buffer;
  ssize_t got = 0;
  while ((got = ::read(changes_.native_handle(), buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      const auto found = by_watch_.find(event.wd);
      if (found == by_watch_.end() || (event.mask & IN_MODIFY) == 0) continue;
      const Key key = found->second;
      by_watch_.erase(found);
      watched_.erase(key);
      seen_(key);
    }
  }
}

}  // namespace muster
