// Logs with a limit where the file system cannot cut off their heads: what processes write comes through pipes, is
// written to their logs here, and a log that grows too long is replaced by one that begins later.
//
// Knows pipes and files, not what is written. A little of each pipe at a time, so that a flood in one holds up neither
// the loop nor other pipes; whoever writes faster than that waits. The file that takes a log's place is filled bit by
// bit while the log grows, and is renamed over it when it has all the log has: a reader sees the one or the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/open_below.h"
#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "spawn/start/watched_fd.h"
#include "wire/files/time_index.h"

namespace muster {

class LogPipes {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // `replaced` is told when another file has taken a log's place.
  LogPipes(boost::asio::io_context& io, std::function<void(const Key&)> replaced);
  LogPipes(const LogPipes&) = delete;
  LogPipes& operator=(const LogPipes&) = delete;

  // The end of a pipe for a process's stdout and stderr. What comes out of it goes to `log`, just created as this file,
  // until nobody holds the pipe any more.
  tl::expected<UniqueFd, int> Open(const Key& key, FileBelow file, UniqueFd log, std::uint64_t limit);
  // The process could not be started.
  void Drop(const Key& key);
  // Writes what is in the pipe at this moment: all that a process wrote that has ended.
  void Drain(const Key& key);
  void DrainAll();

  std::size_t size() const { return pipes_.size(); }

 private:
  struct Pipe {
    Pipe(const LoopExecutor& executor) : out(executor) {}

    WatchedFd out;
    FileBelow file;
    UniqueFd log;
    std::uint64_t size = 0;  // of the log's file
    LogHead head;
    UniqueFd next;  // the file that is to take its place, if there is one; begins at `next_begin` of the log's file …
    std::uint64_t next_begin = 0;
    std::uint64_t copied = 0;  // … and has what is before this
  };

  void Await(const Key& key);
  // Moves one block; how much, 0 at the end of the pipe, -1 if nothing is there now.
  ssize_t MoveSome(const Key& key, Pipe& pipe);
  void Shorten(const Key& key, Pipe& pipe, std::uint64_t room);
  void Begin(Pipe& pipe);
  // Copies at most so much of the log to what takes its place.
  bool Copy(Pipe& pipe, std::uint64_t room);
  bool Replace(Pipe& pipe);
  static void GiveUp(Pipe& pipe);
  void Close(const Key& key);

  boost::asio::io_context& io_;
  std::function<void(const Key&)> replaced_;
  std::vector<char> block_;
  std::map<Key, std::unique_ptr<Pipe>> pipes_;
};

}  // namespace muster
