// When the logs grew: a sparse index of times beside each log (wire/files/time_index.h), kept while its process runs.
//
// Woken by the first write after a silence (inotify(7)) and then every kPause for as long as the log grows, however
// often it is written to; without a timer while all are silent. A process younger than kFirstLook is not watched:
// closing an inotify descriptor after a watch has gone waits 10 to 20 ms for the kernel (SRCU), longer than many a
// process lives. Knows files, not what is in them, and no process. Whatever fails here (a full disk, no more watches)
// costs times, never output.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/open_below.h"
#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "spawn/start/watched_fd.h"
#include "wire/files/time_index.h"

namespace muster {

class LogTimes {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // At most one entry per log in this time, so that many times late is the most that a time can be …
  static constexpr std::chrono::milliseconds kPause{100};
  // … and in twice that after so many entries (1 MiB of index, nearly two hours of steady writing), and so on.
  static constexpr std::uint64_t kEntriesPerPause = 65'536;
  // How long after its beginning a log is looked at first, at most.
  static constexpr std::chrono::milliseconds kFirstLook{20};

  // `first_write` (may be empty) is called once for each log that is written to: as the kernel tells of it, or at the
  // first look, or at its process's end.
  // `too_long` (likewise) for each log that was found longer than its limit, as often as it is looked at.
  using Told = std::function<void(const Key&)>;
  using TooLong = std::function<void(const Key&, const FileBelow& log)>;
  explicit LogTimes(boost::asio::io_context& io, Told first_write = {}, TooLong too_long = {});
  LogTimes(const LogTimes&) = delete;
  LogTimes& operator=(const LogTimes&) = delete;

  // The log has just been created; its process may have written to it already. limit 0: it may be as long as it will.
  void Began(const Key& key, FileBelow log, std::uint64_t limit = 0);
  // Another file has taken its place.
  void Replaced(const Key& key);
  // Its process has ended: a last look, then it is not watched any more.
  void Ended(const Key& key);
  // The same for all of them.
  void EndAll();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Log {
    FileBelow file;
    LogTime begin;
    LogTime last;               // what is in the index, or would be
    std::uint64_t entries = 0;  // in the index
    std::uint64_t limit = 0;
    bool has_head = false;  // the index
    UniqueFd index;         // made with the first entry: who writes nothing costs no file
    int watch = -1;         // while it is silent
  };
  enum class Growth : std::uint8_t { kNone, kNoted, kTooSoon };

  // Makes an entry if the log has grown, and the pause is over or `at_last`.
  Growth Look(const Key& key, Log& log, bool at_last);
  // How long the log is, what was dropped included; tells of one that is too long.
  std::uint64_t Length(const Key& key, const Log& log) const;
  static bool WriteHead(Log& log);
  static void Write(Log& log);
  void AwaitFirstWrite(const Key& key, Log& log);
  void StopWaiting(Log& log);
  void AwaitWrites();
  void OnWrites();
  void Watch();
  void OnFirstLook();
  void SetActive(const Key& key);
  void OnPause();
  std::uint64_t Now() const;

  Told first_write_;
  TooLong too_long_;
  WatchedFd writes_;
  Timer pause_;
  Timer first_look_;
  std::uint64_t wall_minus_monotonic_;  // one clock for all entries: it does not jump
  std::map<Key, Log> logs_;
  std::map<int, Key> by_watch_;
  std::set<Key> fresh_;   // not looked at yet
  std::set<Key> active_;  // grew lately: looked at after the pause
};

}  // namespace muster
