#include "agent/logs/log_times.h"

#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/processes/log_files.h"
#include "base/system/clock.h"
#include "base/system/file_changes.h"
#include "wire/files/log_bytes.h"

namespace muster {

LogTimes::LogTimes(boost::asio::io_context& io, Reported first_write, TooLong too_long)
    : first_write_(std::move(first_write)),
      too_long_(std::move(too_long)),
      writes_(io.get_executor()),
      pause_(io.get_executor()),
      first_look_(io.get_executor()),
      wall_minus_monotonic_(WallNowNs() - MonotonicNowNs()) {}

std::uint64_t LogTimes::Now() const { return MonotonicNowNs() + wall_minus_monotonic_; }

void LogTimes::Began(const Key& key, FileBelow file, std::uint64_t limit) {
  Log& log = logs_[key];
  log.file = std::move(file);
  log.limit = limit;
  log.begin = log.last = {Now(), 0};
  if (Look(key, log, true) == Growth::kNoted) return SetActive(key);
  if (!fresh_.insert(key).second || fresh_.size() > 1) return;  // the timer is already running
  first_look_.expires_after(kFirstLook);
  first_look_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnFirstLook();
  });
}

void LogTimes::OnFirstLook() {
  for (const Key& key : std::exchange(fresh_, {})) {
    Log& log = logs_.at(key);
    AwaitFirstWrite(key, log);
    // Writes between the start and the watch.
    if (Look(key, log, true) == Growth::kNoted) SetActive(key);
  }
}

void LogTimes::Replaced(const Key& key) {
  const auto found = logs_.find(key);
  // Active and new logs are looked at by path.
  if (found == logs_.end() || active_.contains(key) || fresh_.contains(key)) return;
  AwaitFirstWrite(key, found->second);
}

void LogTimes::Ended(const Key& key) {
  const auto found = logs_.find(key);
  if (found == logs_.end()) return;
  Look(key, found->second, true);
  StopWaiting(found->second);
  active_.erase(key);
  fresh_.erase(key);
  logs_.erase(found);
  if (active_.empty()) pause_.cancel();
  if (fresh_.empty()) first_look_.cancel();
}

void LogTimes::EndAll() {
  while (!logs_.empty()) Ended(Key(logs_.begin()->first));
  boost::system::error_code ignored;
  writes_.close(ignored);
}

LogTimes::Growth LogTimes::Look(const Key& key, Log& log, bool at_last) {
  const std::uint64_t size = Length(key, log);
  if (size <= log.last.offset) return Growth::kNone;
  const std::uint64_t now = Now();
  const std::uint64_t least =
      std::chrono::nanoseconds(kPause).count() * (std::uint64_t{1} << (log.entries / kEntriesPerPause));
  if (!at_last && log.entries > 0 && now - log.last.wall_ns < least) return Growth::kTooSoon;
  const bool first = log.last.offset == 0;
  log.last = {now, size};
  if (first && first_write_) first_write_(key);
  Write(log);
  return Growth::kNoted;
}

std::uint64_t LogTimes::Length(const Key& key, const Log& log) const {
  struct stat status {};
  if (::fstatat(log.file.directory, log.file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_size < 0) {
    return 0;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (log.limit == 0) return size;
  if (size > log.limit && too_long_) too_long_(key, log.file);
  return LogEnd(log.file.directory, log.file.path).value_or(0);
}

// Written once only: later, other code updates the log's head there.
bool LogTimes::WriteHead(Log& log) {
  if (log.has_head) return true;
  std::string bytes(log.limit > 0 ? kLimitedIndexHead : kTimeIndexHead);
  if (log.limit > 0) bytes += LogHeadBytes({0, 0, 0, log.limit});
  log.has_head = ::pwrite(log.index.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  return log.has_head;
}

// An entry that a full disk rejects is omitted: the next one is written in its place.
void LogTimes::Write(Log& log) {
  if (!log.index) {
    log.index = CreateNewFile({log.file.directory, TimeIndexPath(log.file.path)}, O_WRONLY);
  }
  if (!log.index || !WriteHead(log)) return;
  std::string bytes;
  std::uint64_t entries = 1;
  if (log.entries == 0) {
    AppendLogTime(bytes, log.begin);
    ++entries;
  }
  AppendLogTime(bytes, log.last);
  const std::uint64_t at = EntriesBegin(log.limit > 0) + log.entries * kLogTimeBytes;
  const ssize_t wrote = ::pwrite(log.index.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
  if (wrote == static_cast<ssize_t>(bytes.size())) log.entries += entries;
}

void LogTimes::Watch() {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  boost::system::error_code error;
  if (inotify) writes_.assign(inotify.get(), error);
  if (!inotify || error) return;
  inotify.release();
  AwaitWrites();
}

// Only one event, so that a process that writes continuously does not wake the agent at each write.
void LogTimes::AwaitFirstWrite(const Key& key, Log& log) {
  StopWaiting(log);
  if (!writes_.is_open()) Watch();
  if (!writes_.is_open()) return;
  log.watch = ::inotify_add_watch(writes_.native_handle(), log.file.ThroughDescriptor().c_str(),
                                  IN_MODIFY | IN_ONESHOT | IN_DONT_FOLLOW);
  if (log.watch >= 0) by_watch_.insert_or_assign(log.watch, key);
}

void LogTimes::StopWaiting(Log& log) {
  if (log.watch < 0) return;
  ::inotify_rm_watch(writes_.native_handle(), log.watch);
  by_watch_.erase(log.watch);
  log.watch = -1;
}

void LogTimes::AwaitWrites() {
  writes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    OnWrites();
    AwaitWrites();
  });
}

void LogTimes::OnWrites() {
  ReadFileChanges(writes_.native_handle(), [this](const FileChange& change) {
    if ((change.mask & IN_Q_OVERFLOW) != 0) {
      for (const auto& [key, log] : logs_) SetActive(key);
      return;
    }
    // The watch ended after its event, or because the log was removed.
    const auto found = by_watch_.find(change.watch);
    if (found == by_watch_.end()) return;
    const Key key = found->second;
    by_watch_.erase(found);
    Log& log = logs_.at(key);
    log.watch = -1;
    if ((change.mask & IN_MODIFY) == 0 || active_.contains(key)) return;
    Look(key, log, false);
    SetActive(key);
  });
}

void LogTimes::SetActive(const Key& key) {
  if (!active_.insert(key).second || active_.size() > 1) return;  // the timer is already running
  pause_.expires_after(kPause);
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (!error) OnPause();
  });
}

void LogTimes::OnPause() {
  const std::set<Key> looked_at = std::exchange(active_, {});
  for (const Key& key : looked_at) {
    const auto found = logs_.find(key);
    if (found == logs_.end()) continue;
    Log& log = found->second;
    bool grows = Look(key, log, false) != Growth::kNone;
    if (!grows) {
      AwaitFirstWrite(key, log);
      grows = Look(key, log, false) != Growth::kNone;  // writes in between
    }
    if (grows) SetActive(key);
  }
}

}  // namespace muster
