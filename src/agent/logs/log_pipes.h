// Logs with a limit on file systems that cannot cut off the beginning of a file: processes write to pipes, this class
// copies from the pipes to the logs, and replaces a log that grows too long by a file that begins later.
//
// Handles pipes and files; independent of the content. Each pipe is served in small portions, so that a flood in one
// blocks neither the loop nor other pipes; a process that writes faster waits. The replacement file is filled gradually
// while the log grows, and is renamed over it when complete, so a reader sees one or the other.
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

}  // namespace muster
