// Records when the logs grew: a sparse time index beside each log (wire/files/time_index.h), updated while its process
// runs.
//
// Woken by the first write after a silence (inotify(7)) and then every kPause while the log grows, however often it is
// written to; without a timer while all logs are silent. A process younger than kFirstLook is not watched: closing an
// inotify descriptor after a watch was removed waits 10 to 20 ms for the kernel (SRCU), longer than many processes run.
// Handles files, not their content, and no processes. Errors (a full disk, no more watches) cost times, never output.
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

  // At most one entry per log in this time, which is also the maximum error of recorded times …
  static constexpr std::chrono::milliseconds kPause{100};
  // … the pause doubles after this many entries (1 MiB of index, nearly two hours of steady writing), and so on.
  static constexpr std::uint64_t kEntriesPerPause = 65'536;
  // A new log is first looked at after at most this time.
  static constexpr std::chrono::milliseconds kFirstLook{20};

  // `first_write` (may be empty) is called once for each log that is written to: when the kernel reports it, at the
  // first look, or at its process's exit. `too_long` (may be empty) is called whenever a log exceeds its limit when it
  // is looked at.
  using Reported = std::function<void(const Key&)>;
  using TooLong = std::function<void(const Key&, const FileBelow& log)>;
  explicit LogTimes(boost::asio::io_context& io, Reported first_write = {}, TooLong too_long = {});
  LogTimes(const LogTimes&) = delete;
  LogTimes& operator=(const LogTimes&) = delete;

  // The log has just been created; its process may have written to it already. limit 0: unlimited.
  void Began(const Key& key, FileBelow log, std::uint64_t limit = 0);
  // Another file has replaced the log.
  void Replaced(const Key& key);
  // The process has exited: looks a last time, then stops watching.
  void Ended(const Key& key);
  // The same for all logs.
  void EndAll();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  struct Log {
    FileBelow file;
    LogTime begin;
    LogTime last;               // last entry of the index, written or skipped
    std::uint64_t entries = 0;  // in the index
    std::uint64_t limit = 0;
    bool has_head = false;  // of the index
    UniqueFd index;         // created with the first entry, so silent logs have no index
    int watch = -1;         // inotify watch while the log is silent
  };
  enum class Growth : std::uint8_t { kNone, kNoted, kTooSoon };

  // Adds an entry if the log has grown, and the pause is over or `at_last` is set.
  Growth Look(const Key& key, Log& log, bool at_last);
  // The length of the log, including dropped bytes; reports a log that is too long.
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

  Reported first_write_;
  TooLong too_long_;
  WatchedFd writes_;
  Timer pause_;
  Timer first_look_;
  std::uint64_t wall_minus_monotonic_;  // one clock for all entries, which does not jump
  std::map<Key, Log> logs_;
  std::map<int, Key> by_watch_;
  std::set<Key> fresh_;   // not yet looked at
  std::set<Key> active_;  // grew recently: looked at again after the pause
};

}  // namespace muster
