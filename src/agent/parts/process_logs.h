// The logs of processes while they are written: created, indexed by time, and kept within their limits, by
// fallocate(2) where the file system can cut off the beginning of a file, and otherwise through a pipe from which the
// agent copies. Independent of their content.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "agent/parts/agent_state.h"
#include "agent/processes/child_set.h"
#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "spawn/start/watched_fd.h"
#include "wire/files/log_bytes.h"

namespace muster {

// Cuts off the beginning of a log while its process continues to write to it, with fallocate(2) and
// FALLOC_FL_COLLAPSE_RANGE.
//
// Handles one log and the head of its index (wire/files/log_bytes.h). Waits for the disk: before the kernel moves the
// data after the cut, it writes it out. So a separate process does it.

// Logs are cut in multiples of this; file systems with larger blocks count as unable to cut.
inline constexpr std::uint64_t kCollapseUnit = 64U << 10;

// The number of bytes to cut off a log of this length, so that a quarter of the limit becomes free: a multiple of
// kCollapseUnit; 0 if the log is within its limit.
std::uint64_t BytesToDrop(std::uint64_t size, std::uint64_t limit);

// Descriptor of the log's base directory in the cutting process.
inline constexpr int kCollapseDirectory = 3;

// Whether files of this folder can be cut, tested with a temporary file.
bool CanCollapse(const FileBelow& folder);

// Cuts the log to the limit in its index, and completes what an earlier call could not. True if there was something to
// do and it succeeded. Without an index nothing is dropped, since readers could not detect it.
bool CollapseLog(const FileBelow& log);

// Keeps logs within their limits while processes write to them: a separate process makes each cut (muster-agent
// --collapse LOG), because the kernel may wait long for the disk before it cuts.
//
// Tracks which logs are being cut; CollapseLog makes the cut.
class LogTrims {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // `program`: path of muster-agent. `idle` is called when no log is being cut any more.
  LogTrims(boost::asio::io_context& io, Launcher& launcher, std::string program, std::function<void()> idle);

  // The log exceeds its limit. If it is already being cut, it is checked again after that.
  void TooLong(const Key& key, const FileBelow& log);

  bool Owns(pid_t pid) const { return cutters_.Owns(pid); }
  bool Ended(pid_t pid) { return cutters_.Ended(pid); }
  bool empty() const { return cutters_.empty(); }
  std::size_t size() const { return cutters_.size(); }
  void Abandon() { cutters_.Abandon(); }

 private:
  void Cut(const Key& key, const FileBelow& log);

  std::string program_;
  std::map<Key, FileBelow> again_;
  ChildSet cutters_;
};

// Logs with a limit on file systems that cannot cut off the beginning of a file: processes write to pipes, this class
// copies from the pipes to the logs, and replaces a log that grows too long by a file that begins later.
//
// Handles pipes and files; independent of the content. Each pipe is served in small portions, so that a flood in one
// blocks neither the loop nor other pipes; a process that writes faster waits. The replacement file is filled gradually
// while the log grows, and is renamed over it when complete, so a reader sees one or the other.
class LogPipes {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // `replaced` is called when another file has replaced a log.
  LogPipes(boost::asio::io_context& io, std::function<void(const Key&)> replaced);
  LogPipes(const LogPipes&) = delete;
  LogPipes& operator=(const LogPipes&) = delete;

  // The write end of a pipe for a process's stdout and stderr. Its data goes to `log`, just created as `file`, until no
  // process has the pipe open.
  tl::expected<UniqueFd, int> Open(const Key& key, FileBelow file, UniqueFd log, std::uint64_t limit);
  // Call it if the process could not be started.
  void Drop(const Key& key);
  // Writes the current content of the pipe: everything written by a process that has exited.
  void Drain(const Key& key);
  void DrainAll();

  std::size_t size() const { return pipes_.size(); }

 private:
  struct Pipe {
    Pipe(const LoopExecutor& executor) : out(executor) {}

    WatchedFd out;
    FileBelow file;
    UniqueFd log;
    std::uint64_t size = 0;  // of the log's file in bytes
    LogHead head;
    UniqueFd next;  // the replacement file, if any; it begins at `next_begin` of the log's file …
    std::uint64_t next_begin = 0;
    std::uint64_t copied = 0;  // … and contains everything before this
  };

  void Await(const Key& key);
  // Moves one block; returns its size, 0 at the end of the pipe, -1 if no data is available.
  ssize_t MoveSome(const Key& key, Pipe& pipe);
  void Shorten(const Key& key, Pipe& pipe, std::uint64_t room);
  void Begin(Pipe& pipe);
  // Copies at most `room` bytes of the log to its replacement.
  bool Copy(Pipe& pipe, std::uint64_t room);
  bool Replace(Pipe& pipe);
  static void GiveUp(Pipe& pipe);
  void Close(const Key& key);

  boost::asio::io_context& io_;
  std::function<void(const Key&)> replaced_;
  std::vector<char> block_;
  std::map<Key, std::unique_ptr<Pipe>> pipes_;
};

// Records when the logs grew: a sparse time index beside each log (wire/files/log_bytes.h), updated while its process
// runs.
//
// Woken by the first write after a silence (inotify(7)) and then every kPause while the log grows, however often it is
// written to; without a timer while all logs are silent. A process younger than kFirstLook is not watched: closing an
// inotify descriptor after a watch was removed waits 10 to 20 ms for the kernel (SRCU), longer than many processes run.
// Handles files, not their content, and no processes. Errors (a full disk, no more watches) cost times, never output.
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

// The logs of processes: created, kept within their limits, with a time index; written through a pipe if the file
// system cannot cut off the beginning of a file.
//
// Chooses the method for each log; agent/logs/ implements the methods.
class ProcessLogs : public AgentPart {
 public:
  using Key = LogTimes::Key;
  static constexpr std::size_t kDescriptorsPerPipe = 3;  // the pipe's read end, the log, and its replacement

  // `state` must outlive this object. `replaced`: another file has replaced an attempt's log.
  ProcessLogs(AgentState& state, std::function<void(const Key&)> replaced);

  // Call it once the folder of all logs exists. Returns the mechanism that enforces limits there, as named in
  // AgentReady.
  const char* Begin(const std::string& folder);

  // The descriptor for stdout and stderr of an attempt that is about to start.
  tl::expected<UniqueFd, SpawnError> Open(const StartProcess& command);
  // The attempt could not be started …
  void Drop(const Key& key) { pipes_.Drop(key); }
  // … or has been started.
  void Began(const Key& key, const FileBelow& log, std::uint64_t limit) { times_.Began(key, log, limit); }
  // The attempt has exited: writes the content of its pipe to its log …
  void Drain(const Key& key) { pipes_.Drain(key); }
  void DrainAll() { pipes_.DrainAll(); }
  // … and records that the log is complete.
  void Ended(const Key& key) { times_.Ended(key); }
  void AllEnded() { times_.EndAll(); }

  bool Owns(pid_t pid) const override { return trims_.Owns(pid); }
  bool ChildEnded(pid_t pid) override { return trims_.Ended(pid); }
  bool empty() const override { return trims_.empty(); }
  std::size_t descriptors() const override {
    return kDescriptorsPerChild * trims_.size() + kDescriptorsPerPipe * pipes_.size();
  }
  void Finish() override {}  // waits for logs that are being cut
  void Abandon() override { trims_.Abandon(); }

 private:
  AgentState& state_;
  LogTimes times_;
  LogPipes pipes_;
  LogTrims trims_;
  bool collapses_ = false;  // logs with a limit are cut; otherwise they are written through pipes
};

}  // namespace muster
